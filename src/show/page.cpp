// The style sheet. It loads no script, font or picture from elsewhere.
#include "flymc/show/page.hpp"

#include <fmt/format.h>

#include "flymc/show/html.hpp"

namespace flymc {
namespace {

// Lines have the colours of Okabe and Ito, which people with any kind of colour vision can distinguish.
constexpr std::string_view sheet = R"css(
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1e21; --soft: #5d646d; --rule: #d9dde2; --panel: #f5f6f8;
  --main: #1f5fa8; --fill: #a9c6e8; --alarm: #b8320f; --alarm-fill: #f0b49f; --alarm-panel: #fdf0eb; --good: #1a6b3c;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b65f93; --c4: #b8860b; --c5: #56798a; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181c; --ink: #e6e8eb; --soft: #a0a8b2; --rule: #343a42; --panel: #1e2227;
    --main: #7fb4ee; --fill: #33557c; --alarm: #ff9168; --alarm-fill: #7d3a22; --alarm-panel: #33211b; --good: #74cf9b;
    --c0: #56b4e9; --c1: #f0904a; --c2: #37c79b; --c3: #dd9cc2; --c4: #e0c04d; --c5: #9db7c4; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 20px 16px 60px; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4em; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2em 0 .5em; padding-bottom: .2em; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 0 0 .2em; overflow-wrap: anywhere; }
p, li { max-width: 52rem; overflow-wrap: anywhere; }
p { margin: .4em 0; } ul { padding-left: 1.2em; margin: .4em 0; }
.note, .key { color: var(--soft); font-size: .875rem; }
.good { color: var(--good); } .bad strong { color: var(--alarm); }
.box { border: 1px solid var(--rule); border-left: 4px solid var(--good); background: var(--panel); padding: .6em 1em; margin: 1em 0; border-radius: 4px; }
.box.alarm { border-left-color: var(--alarm); background: var(--alarm-panel); }
.box p:first-child { margin-top: 0; } .box :last-child { margin-bottom: 0; }
nav { display: flex; flex-wrap: wrap; gap: .2em 1em; font-size: .9rem; margin: .8em 0; } a { color: var(--main); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr)); gap: 14px; margin: .8em 0; }
.card { margin: 0; padding: 12px; border: 1px solid var(--rule); border-radius: 6px; background: var(--panel); min-width: 0; }
.card svg { display: block; width: 100%; height: auto; max-width: 460px; }
.key svg { width: 14px; height: 14px; vertical-align: -2px; margin-left: .7em; }
.scroll { overflow-x: auto; max-width: 100%; margin: .5em 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .7em; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
thead th { color: var(--soft); font-weight: 500; } tbody th { font-weight: 400; text-align: left; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); max-width: 60vw; overflow: hidden; text-overflow: ellipsis; }
.card th:first-child { background: var(--panel); }
details { margin: .5em 0; } summary { cursor: pointer; color: var(--main); }
pre { background: var(--panel); border: 1px solid var(--rule); border-radius: 4px; padding: .7em; overflow-x: auto; font-size: .8125rem; line-height: 1.4; }
.intervals { margin: .6em 0; max-width: 62rem; }
.line { display: grid; grid-template-columns: minmax(7rem, 26%) 1fr 13rem; column-gap: 12px; align-items: center; }
.name { overflow-wrap: anywhere; font-size: .9rem; line-height: 1.2; } .numbers { font-size: .875rem; font-variant-numeric: tabular-nums; color: var(--soft); }
.line svg { width: 100%; height: 22px; display: block; overflow: visible; }
.card .line { grid-template-columns: minmax(5rem, 30%) 1fr 4rem; }
.marks { position: relative; height: 1.3em; font-size: .75rem; color: var(--soft); grid-column: 2; }
.marks span { position: absolute; transform: translateX(-50%); white-space: nowrap; } .marks .first { transform: none; } .marks .last { transform: translateX(-100%); }
.axis-line .name { color: var(--soft); font-size: .75rem; }
@media (max-width: 640px) {
  body { font-size: 15px; }
  .intervals > .line { grid-template-columns: 1fr auto; row-gap: 0; margin-bottom: 4px; }
  .intervals > .line > svg { grid-row: 2; grid-column: 1 / -1; } .axis-line .marks { grid-column: 1 / -1; }
  .axis-line .name:empty { display: none; } }
@media print { details:not([open]) { display: none; } }
svg path { fill: none; }
svg text { font-family: inherit; fill: var(--ink); }
.intervals svg path { vector-effect: non-scaling-stroke; }
svg .grid { stroke: var(--rule); stroke-width: 1; } svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .tick { fill: var(--soft); font-size: 11px; }
svg .reference { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 4 3; }
svg .interval { stroke: var(--main); stroke-width: 2; } svg .interval.noticed { stroke: var(--alarm); }
svg .inner { stroke: var(--main); stroke-width: 5; }
svg .point { stroke: var(--main); stroke-width: 8; stroke-linecap: round; } svg .point.noticed { stroke: var(--alarm); }
svg .dot { fill: var(--main); } svg .dot.noticed { fill: var(--alarm); }
svg .bar { fill: var(--fill); } svg .bar.noticed { fill: var(--alarm-fill); }
svg .band { stroke: var(--soft); stroke-width: 2; stroke-linecap: round; } svg .mark { stroke: var(--ink); stroke-width: 1.6; }
svg .curve { stroke: var(--alarm); stroke-width: 1.8; }
svg .chain { stroke-width: .9; stroke-linejoin: round; }
svg .c0 { stroke: var(--c0); } svg .c1 { stroke: var(--c1); } svg .c2 { stroke: var(--c2); } svg .c3 { stroke: var(--c3); } svg .c4 { stroke: var(--c4); } svg .c5 { stroke: var(--c5); }
)css";

}  // namespace

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style></head>\n<body><main>\n{}</main></body></html>\n",
      escaped(title), sheet, body);
}

}  // namespace flymc
