#include "reports/chart/svg.h"
#include "reports/formats/html/page_style.h"

namespace ddbench::reports::html {
namespace {

constexpr const char* kRules =
    R"(:root{--good:#00704f;--warning:#8a5a00;--bad:#b3261e;--panel:#f6f7f9;--warn-panel:#fff6e0;--bad-panel:#fdecea;--link:#0b57d0}
@media screen and (prefers-color-scheme:dark){:root{--good:#4ad3a4;--warning:#ffc24d;--bad:#ff8a80;--panel:#1b1f26;--warn-panel:#2b2413;--bad-panel:#331a19;--link:#8ab4f8}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1200px;margin:0 auto;padding:28px 28px 60px}
h1{font-size:27px;line-height:1.25;margin:2px 0 6px;overflow-wrap:anywhere}
h2{font-size:19px;margin:36px 0 12px}h3{font-size:15px;margin:0 0 8px;overflow-wrap:anywhere}
.kind{margin:0;color:var(--soft);font-size:13px;letter-spacing:.04em}
.subtitle{margin:0;color:var(--soft);overflow-wrap:anywhere}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin:8px 0 0;font-size:14px}
a{color:var(--link)}a:hover{text-decoration-thickness:2px}
form{display:flex;flex-wrap:wrap;gap:10px 14px;align-items:end;margin:18px 0 24px}
label{font-size:13px;color:var(--soft)}
input{display:block;margin-top:3px;max-width:100%;font:inherit;font-size:14px;padding:4px 8px;color:var(--ink);background:var(--page);border:1px solid var(--axis);border-radius:6px}
form button{font:inherit;font-size:14px;padding:4px 16px;color:var(--ink);background:var(--panel);border:1px solid var(--axis);border-radius:6px;cursor:pointer}
.badges{display:flex;flex-wrap:wrap;gap:6px;list-style:none;margin:12px 0 0;padding:0}
.badges li{border:1px solid var(--grid);border-radius:99px;padding:1px 10px;font-size:13px;color:var(--soft);overflow-wrap:anywhere}
.alarm{margin:16px 0 0;padding:10px 14px;border:1px solid var(--bad);border-left-width:5px;border-radius:6px;background:var(--bad-panel);overflow-wrap:anywhere}
.alarm strong{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:12px;margin:20px 0 0}
.tile{background:var(--panel);border:1px solid var(--grid);border-radius:8px;padding:12px 14px}
.tile dt{font-size:13px;color:var(--soft)}.tile dd{margin:2px 0 0;font-size:23px;font-weight:650;line-height:1.25;overflow-wrap:anywhere}
.tile small{display:block;margin-top:5px;font-size:12.5px;font-weight:400;line-height:1.4;color:var(--soft)}
.tile.good dd{color:var(--good)}.tile.warning dd{color:var(--warning)}.tile.bad dd{color:var(--bad)}.tile.faint dd{color:var(--soft);font-size:19px}
.tile dd small{color:var(--soft)}.unit{font-size:15px}.option{white-space:nowrap}
.verdict{font-size:16.5px;margin:18px 0 0;overflow-wrap:anywhere}
.notes{margin:20px 0 0;padding:12px 18px;border:1px solid var(--grid);border-left:5px solid var(--warning);border-radius:6px;background:var(--warn-panel)}
.notes h2{font-size:15px;margin:0 0 4px}.notes ul{margin:0;padding-left:20px}.notes li{overflow-wrap:anywhere}
.charts{display:grid;grid-auto-flow:dense;grid-template-columns:repeat(2,minmax(0,1fr));gap:20px}
figure{margin:0;padding:16px;border:1px solid var(--grid);border-radius:8px;min-width:0}
figure.full{grid-column:1/-1}
figure svg{display:block;width:100%;height:auto}
figure .column svg{max-width:640px}
figcaption{font-size:12.5px;color:var(--soft)}figcaption ul{margin:8px 0 0;padding-left:18px}figcaption li{overflow-wrap:anywhere}
.narrow,.middle{display:none}
details{margin:8px 0}summary{cursor:pointer;color:var(--soft);font-size:13px}
.folded{margin:18px 0 22px}.folded>summary{font-size:15px;font-weight:600;color:var(--ink)}
.scroll{overflow-x:auto;margin:0 0 22px}figure .scroll{margin:8px 0 0;max-height:320px;overflow:auto}
:focus-visible{outline:2px solid var(--s0);outline-offset:2px}
table{border-collapse:collapse;font-size:13px}
caption{text-align:left;font-weight:600;font-size:15px;padding:0 0 6px}
caption span,caption small{display:block;max-width:calc(100vw - 4em);overflow-wrap:anywhere}
caption small{font-weight:400;font-size:12.5px;color:var(--soft)}
figure caption{font-size:13px}
th,td{padding:5px 9px 5px 0;border-bottom:1px solid var(--grid);text-align:left;vertical-align:top}
th:not(:first-child),td:not(:first-child){padding-left:9px}
thead th{border-bottom:1.5px solid var(--axis);font-weight:600;white-space:nowrap;vertical-align:bottom}
tbody th,tfoot th{font-weight:400}tfoot th,tfoot td{border-top:1.5px solid var(--axis);border-bottom:0}
td,th{white-space:nowrap}.n{text-align:right}
.long{white-space:normal;min-width:13em;max-width:460px;overflow-wrap:anywhere}
tbody tr:hover{background:var(--panel)}
.faint{color:var(--soft)}.strong{font-weight:600}td.good{color:var(--good)}td.warning{color:var(--warning)}td.bad{color:var(--bad)}
code{font:12.5px/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace}
thead button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-align:inherit}
thead button::after{content:"\2195";display:inline-block;width:.85em;text-align:right;color:var(--axis);font-weight:400}
th[aria-sort=ascending] button::after{content:"\2191";color:var(--ink)}th[aria-sort=descending] button::after{content:"\2193";color:var(--ink)}
@media (max-width:1000px){.charts{grid-template-columns:minmax(0,1fr)}.wide{display:none}.middle{display:block}}
@media (max-width:560px){main{padding:18px 14px 40px}h1{font-size:22px}.charts{gap:14px}figure{padding:12px}.column,.middle,.wide{display:none}.narrow{display:block}.tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}.tile{padding:10px}.tile dd{font-size:19px}}
@media print{@page{margin:14mm}body{font-size:10.5pt}main{max-width:none;padding:0}figure,.tile,.notes,.alarm,tr{break-inside:avoid}h2,h3,caption{break-after:avoid}
.charts{grid-template-columns:repeat(2,minmax(0,1fr));gap:10px}.column,.middle{display:block}.wide,.narrow{display:none}details:not([open]),thead button::after{display:none}.scroll{overflow:visible}table{font-size:8.5pt}th,td{padding:3px 6px 3px 0}th:not(:first-child),td:not(:first-child){padding-left:6px}code{font-size:8pt}thead th{white-space:normal}}
)";

}  // namespace

std::string page_css() {
  return figure_css(":root") + kRules;
}

}  // namespace ddbench::reports::html
