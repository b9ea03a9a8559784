/* The style sheet of the HTML report. Colours keep a contrast of 4.5:1 or more in both schemes. */
#ifndef DTKB_REPORT_HTML_STYLE_H
#define DTKB_REPORT_HTML_STYLE_H

/* One rule or group of rules a line. */
/* clang-format off */
static const char html_style[] =
    ":root{color-scheme:light "
    "dark;--fg:#1b2130;--bg:#f5f6f9;--card:#fff;--dim:#566072;--line:#dde1ea;--bad:#b3261e;--good:#1a7f37;--warn:#8a5a00;--code:#f0f2f7;--"
    "accent:#1f5fbf;--tint:#1f5fbf14}"
    "@media(prefers-color-scheme:dark){:root{--fg:#e6e9ef;--bg:#12151b;--card:#1b2028;--dim:#a2abba;--line:#313947;--bad:#ff8a80;--good:#"
    "6fdd8b;--warn:#f2c05c;--code:#252c37;--accent:#8ab4ff;--tint:#8ab4ff1c}}"
    "*{box-sizing:border-box}"
    "body{margin:0;font:16px/1.55 system-ui,sans-serif;color:var(--fg);background:var(--bg);overflow-wrap:anywhere}"
    "header,main,footer{max-width:58rem;margin:0 auto;padding:1rem 1.25rem}"
    "header{position:relative;margin-top:1.25rem;padding:0 1.25rem 0 "
    "2.4rem}header:before{content:'';position:absolute;left:1.25rem;top:.3rem;bottom:.2rem;width:5px;border-radius:3px;background:var(--"
    "mark)}"
    "header.bad{--mark:var(--bad)}header.good{--mark:var(--good)}header.warn{--mark:var(--warn)}"
    "h1{font-size:1.65rem;line-height:1.25;margin:0 0 .5rem;text-wrap:balance}header.good h1,header.warn h1{color:var(--mark)}"
    "h2{font-size:.8rem;letter-spacing:.07em;text-transform:uppercase;color:var(--dim);margin:0 0 .75rem}"
    "p{margin:.3rem 0}a{color:var(--accent);text-underline-offset:.15em}footer{color:var(--dim);font-size:.8rem}"
    ".dim,.place{color:var(--dim);font-size:.9rem}.bad{color:var(--bad)}.good{color:var(--good)}.warn{color:var(--warn);font-size:.9rem}"
    ".chips{display:flex;flex-wrap:wrap;gap:.4rem;margin:.5rem 0}"
    ".chips>span{border:1px solid var(--line);background:var(--card);border-radius:99px;padding:.1rem "
    ".75rem;font-size:.9rem;color:var(--fg)}"
    ".chips>span:first-letter{text-transform:uppercase}.chips>.symptom:first-letter{text-transform:none}"
    ".gauge{display:inline-block;width:4rem;height:.45rem;border-radius:9px;background:var(--line);overflow:hidden;vertical-align:.1em;"
    "margin-left:.25rem}"
    ".gauge i{display:block;height:100%;background:var(--accent)}.bad .gauge i{background:var(--bad)}"
    "section{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1.1rem 1.25rem;margin:0 0 1rem}"
    "pre{margin:.35rem 0;padding:.6rem .8rem;background:var(--code);border-radius:6px;white-space:pre-wrap;font:13px/1.5 "
    "ui-monospace,Menlo,monospace}"
    "pre.command{background:var(--tint);border-left:3px solid var(--accent);user-select:all}"
    ".plain{list-style:none;margin:0;padding:0}li+li{margin-top:.9rem}.follows .line{opacity:.8}"
    ".place b{border:1px solid;border-radius:4px;padding:0 .35rem;margin-right:.5rem;font-size:.8rem}"
    ".explanation{margin:.9rem 0 0}.do{margin:0}"
    ".remedies{list-style:none;counter-reset:n;margin:0;padding:0}.remedies>li{counter-increment:n;position:relative;padding-left:2.4rem}"
    ".remedies>li:before{content:counter(n);position:absolute;left:0;width:1.6rem;height:1.6rem;line-height:1.6rem;text-align:center;"
    "border-radius:50%;background:var(--accent);color:var(--card);font-weight:600;font-size:.85rem}"
    ".check:before{content:\"\\2713\\a0\";color:var(--good)}"
    "details+details{margin-top:.6rem}summary{cursor:pointer}details[open]>summary{margin-bottom:.5rem;font-weight:600}details>ol,details>"
    "ul{margin-top:.9rem}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}th{color:var(--dim);font-weight:600}td,th{text-align:left;vertical-align:"
    "top;padding:.3rem .75rem .3rem 0}"
    "tr+tr td{border-top:1px solid "
    "var(--line)}.name{font-family:ui-monospace,Menlo,monospace;font-size:.85rem}td+.value{width:55%}table+details{margin-top:.6rem}"
    ".ranks{display:grid;grid-template-columns:max-content 1fr;gap:.3rem .9rem;align-items:center;font-size:.9rem;margin-top:.6rem}"
    ".track{position:relative;height:1.25rem;background:var(--code);border-radius:4px}"
    ".mark{display:inline-block;width:.75rem;height:.75rem;border-radius:50%;background:var(--dim);vertical-align:-.05em}.track "
    ".mark{position:absolute;top:.25rem;margin-left:-.375rem}"
    ".mark.initiating{background:var(--bad)}.mark.cascade{background:var(--warn)}.dim>.mark{margin-left:.6rem}";

/* Narrow screens and paper. */
static const char html_style_narrow[] =
    "@media(max-width:34rem){main,footer{padding-left:.8rem;padding-right:.8rem}header{padding-left:1.7rem}header:before{left:.8rem}"
    "section{padding:.9rem}h1{font-size:1.35rem}.remedies>li{padding-left:0}.remedies>li:before{position:static;display:inline-block;"
    "margin:0 0 .3rem}}"
    "@media print{:root{--bg:#fff;--fg:#000;--card:#fff}body{font-size:11pt}header{margin-top:0}section{border:0;padding:0 0 "
    ".5rem}li,pre,tr{break-inside:avoid}h2{break-after:avoid}details:not([open])::details-content{display:block;content-visibility:visible}"
    ".gauge i,.mark,.remedies>li:before,header:before{print-color-adjust:exact}}";
/* clang-format on */

#endif
