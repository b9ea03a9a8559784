/* Issues as the text of a pack: what an importer writes and people review. */
#ifndef DTKB_KB_ISSUE_XML_H
#define DTKB_KB_ISSUE_XML_H

#include "base/buf.h"
#include "kb/kb.h"

void issue_xml_begin(struct buf *out, const char *pack, const char *title, const char *origin);
void issue_xml_add(struct buf *out, const struct issue *issue);
void issue_xml_end(struct buf *out);

#endif
