#include <fmt/format.h>

#include "reports/formats/html/html.h"
#include "reports/formats/html/page_style.h"

namespace ddbench::reports {
namespace {

// Turns column headings into buttons. Rows without a number (a dash) stay at the end in both directions.
constexpr std::string_view kScript = R"JS(
for (const table of document.querySelectorAll('table')) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  if (body.rows.length < 2) continue;
  const key = (row, i) => {
    const cell = row.cells[i];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent;
    return text === '' || text === '\u2013' ? null : text;
  };
  const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b
    : String(a).localeCompare(String(b), undefined, {numeric: true});
  heads.forEach((head, i) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const sign = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending');
      const rows = [...body.rows].map(row => [key(row, i), row]);
      rows.sort((a, b) => a[0] === null || b[0] === null ? (a[0] === null) - (b[0] === null) : sign * compare(a[0], b[0]));
      for (const row of rows) body.append(row[1]);
    });
  });
}
)JS";

// base64(sha256(kScript)); tests/integration/test_report.py prints the right one when the script was changed.
constexpr std::string_view kScriptSha256 = "sbqPtiIOi48+F/tSMEExemPUgi3UYCL4rIm6G3mupT4=";

}  // namespace

std::string_view html::page_script() {
  return kScript;
}

std::string content_security_policy() {
  return fmt::format(
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'self'", kScriptSha256);
}

}  // namespace ddbench::reports
