#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "scan/words.h"

/* Text that names an error in order to advise, to count or to deny one. */
static bool is_harmless(const struct line *line)
{
    const char *text = line->text;
    static const char *const inside[] = {"no error",         "0 error",
                                         "zero error",       "without error",
                                         "errors: 0",        "error: 0",
                                         "max error",        "mean error",
                                         "squared error",    "absolute error",
                                         "relative error",   "error rate",
                                         "validation error", "training error",
                                         "test error",       "train error",
                                         "val error",        "0 failed",
                                         "failed: 0",        "failed=0",
                                         "errors=0",         "error bound",
                                         "error margin",     "error feedback",
                                         "error correction", "error handling",
                                         "error handler",    "on error",
                                         "if an error",      "error_file",
                                         "in case of error", "ignore error",
                                         "not an error",     "error message",
                                         "more error",       "reconstruction error",
                                         "prediction error", "quantization error",
                                         "exit code 0",      "exitcode: 0",
                                         "exit status 0",    "returned 0"};
    static const char *const starts[] = {"for debugging", "hint", "note:", "please ", "if you",     "consider ", "compile with",
                                         "you can",       "try ", "see ",  "to fix",  "suggestion", "tip:",      "cuda kernel errors might",
                                         "in addition,"};
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
        if (line_find(line, inside[i]))
            return true;
    text += strspn(text, " *-");
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (!strncasecmp(text, starts[i], strlen(starts[i])))
            return true;
    return false;
}

/* "error 1e-6", "error = 0.01", "val-error-top1: 0.319": a measured quantity */
static bool is_quantity(const struct line *line)
{
    const char *p = line_find(line, "error");
    if (!p)
        return false;
    p += 5;
    if (*p == '-' || *p == '_' || *p == '@' || *p == '(') /* the rest of its name */
        p += strspn(p, "-_@%()abcdefghijklmnopqrstuvwxyz0123456789");
    size_t gap = strspn(p, " =:");
    const char *q = p + gap;
    size_t n = strspn(q, "0123456789.eE-+");
    return gap && n && isdigit((unsigned char)*q) && memchr(q, '.', n) && (q[n] == ' ' || q[n] == '\0' || q[n] == ',' || q[n] == '%');
}

bool is_chatter(const struct line *line)
{
    static const char *const words[] = {"Failed call to cuInit: UNKNOWN ERROR (303)",
                                        "Could not find cuda drivers on your machine",
                                        "oneDNN custom operations are on",
                                        "This TensorFlow binary is optimized",
                                        "rebuild TensorFlow with the appropriate compiler flags",
                                        "messages before absl::InitializeLog()",
                                        "TF-TRT Warning: Could not find TensorRT",
                                        "Unable to register cuDNN factory",
                                        "Unable to register cuBLAS factory",
                                        "Unable to register cuFFT factory",
                                        "computation placer already registered",
                                        "Setting OMP_NUM_THREADS environment variable for each process"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (line_find(line, words[i]))
            return true;
    return false;
}

bool is_error_line(const struct line *line)
{
    const char *text = line->text;
    if (line->length < 8 || line->level == 'D' || line->level == 'I' || line->level == 'W')
        return false;
    if (!strncmp(text, "$ ", 2))
        return false; /* a command: "$ grep error train.log" */
    size_t indent = strspn(text, " ");
    if (!strncmp(text + indent, "raise ", 6) || !strncmp(text + indent, "File \"", 6) || !strncmp(text + indent, "except ", 7))
        return false; /* source in a traceback */
    if (line_find_exact(line, "UserWarning") || line_find_exact(line, "DeprecationWarning") || line_find_exact(line, "FutureWarning") ||
        line_find_exact(line, "NCCL INFO"))
        return false;
    return !is_harmless(line) && !is_quantity(line) && !is_chatter(line);
}
