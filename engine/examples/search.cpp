// From C++: the header is plain C, and handles fit unique_ptr.
// usage: search WORDS
#include <cstdio>
#include <memory>
#include <string>

#include <dtkb/dtkb.h>

int main(int argc, char **argv)
{
    char why[DTKB_ERROR_TEXT_MAX];
    dtkb *opened = nullptr;
    if (argc != 2 || dtkb_open(&opened, nullptr, why, sizeof why) != DTKB_OK)
        return std::fprintf(stderr, "%s\n", argc == 2 ? why : "usage: search WORDS"), 2;
    std::unique_ptr<dtkb, decltype(&dtkb_close)> engine(opened, dtkb_close);
    dtkb_query query = DTKB_QUERY_INIT;
    query.text = argv[1];
    dtkb_doc *found = nullptr;
    if (dtkb_search(engine.get(), &query, &found) != DTKB_OK)
        return std::fprintf(stderr, "%s\n", dtkb_error(engine.get())), 1;
    std::unique_ptr<dtkb_doc, decltype(&dtkb_doc_free)> document(found, dtkb_doc_free);
    return std::puts(dtkb_doc_json(document.get())) < 0;
}
