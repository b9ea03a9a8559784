/* The style sheet of the HTML report. Colours keep a contrast of 4.5:1 or more in both schemes. */
#ifndef DTKB_REPORT_HTML_STYLE_H
#define DTKB_REPORT_HTML_STYLE_H

static const char html_style[] =
    ":root{color-scheme:light "
    "dark;--fg:#1d2330;--bg:#f6f7f9;--card:#fff;--dim:#566072;--line:#d9dee7;--bad:#b3261e;--good:#1a7f37;--warn:#8a5a00;"
    "--code:#eef1f6;--accent:#1f5fbf}"
    "@media(prefers-color-scheme:dark){:root{--fg:#e6e9ef;--bg:#14171d;--card:#1c2129;--dim:#a2abba;--line:#333b48;--bad:#ff8a80;--good:#"
    "6fdd8b;"
    "--warn:#f2c05c;--code:#262d38;--accent:#8ab4ff}}"
    "*{box-sizing:border-box}body{margin:0;font:16px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg)}"
    "header,main{max-width:60rem;margin:0 auto;padding:1.25rem}header{border-bottom:1px solid var(--line)}"
    "h1{font-size:1.5rem;line-height:1.25;margin:.25rem 0}header.fault h1{color:var(--bad)}header.no-fault h1{color:var(--good)}"
    "header.unknown h1{color:var(--warn)}header p{margin:.1rem 0;color:var(--dim)}h2{font-size:1.1rem;margin:0 0 .6rem}"
    "section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:1rem 1.25rem;margin:0 0 1rem}"
    "pre{margin:.25rem 0;padding:.5rem .75rem;background:var(--code);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;"
    "font:13px/1.45 ui-monospace,monospace}pre.command{border-left:3px solid var(--accent);user-select:all}"
    "ol,ul{margin:0;padding-left:1.4rem}li{margin:.35rem 0}li.cascade{opacity:.75}.place,.check,.fix{color:var(--dim);font-size:.9rem}"
    ".do,.explanation{margin:.25rem 0}p{margin:.35rem 0}a{color:var(--accent)}em{color:var(--warn);font-style:normal}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}td,th{text-align:left;padding:.2rem .5rem;border-top:1px solid var(--line);"
    "overflow-wrap:anywhere}tr.ok .status{color:var(--good)}tr.fault .status,tr.crashed .status,tr.timed-out .status{color:var(--bad)}"
    "summary{cursor:pointer}.ranks{display:grid;grid-template-columns:max-content 1fr;gap:.25rem .75rem;align-items:center;font-size:.9rem}"
    ".track{position:relative;height:1.1rem;background:var(--code);border-radius:4px}"
    ".track i{position:absolute;top:.15rem;width:.8rem;height:.8rem;margin-left:-.4rem;border-radius:50%;background:var(--dim)}"
    ".track i.initiating{background:var(--bad)}.track i.cascade{background:var(--warn)}";

#endif
