/* A signature: what the scanner looks for. Signatures come from the KB and from packs; index in the array is the identity used in findings.
 */
#ifndef DTKB_SCAN_SIGNATURE_H
#define DTKB_SCAN_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

enum sig_strength { SIG_WEAK, SIG_MODERATE, SIG_STRONG, SIG_PROOF };
enum sig_effect { SIG_FOR, SIG_SUPPORT, SIG_AGAINST };
enum sig_role { ROLE_UNKNOWN, ROLE_INITIATING, ROLE_CASCADE, ROLE_TEARDOWN };

struct signature {
    const char *id; /* unique within its cause */
    uint32_t cause; /* index of the cause it speaks of */
    enum sig_strength strength;
    enum sig_effect effect;
    enum sig_role role;
    bool is_regex;
    bool ignore_case;
    const char *pattern; /* literal text, or PCRE in the linear-time subset */
};

#endif
