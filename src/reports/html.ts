// A report as one page of HTML that needs nothing else: the words of its Markdown, its chart drawn in place.

import { renderMarkdown } from './markdown.ts'
import { escapeHtml, markdownToHtml } from './markdown-html.ts'
import type { AnalysisReport, DiagnosticSummary } from './report.ts'
import { reportChart } from './report-chart.ts'

/** What the page may load: its own style and nothing else. */
export const REPORT_PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const STYLE = `
body{font:16px/1.6 system-ui,sans-serif;color:#1a202c;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.2rem;border-bottom:1px solid #e2e8f0;margin-top:2rem}
table{border-collapse:collapse;width:100%}th,td{border:1px solid #e2e8f0;padding:.35rem .6rem;text-align:left}
blockquote{margin:0;padding:.6rem 1rem;background:#fffaf0;border-left:4px solid #b7791f}
figure{margin:1rem 0}svg{max-width:100%;height:auto}hr{border:0;border-top:1px solid #e2e8f0}
`

export function renderHtml(report: AnalysisReport, diagnostics: DiagnosticSummary | null = null): string {
  const { meta } = report
  const chart = reportChart(report)
  const title = [meta.stock_name, meta.stock_code].filter(Boolean).join(' ')
  const [heading = '', ...rest] = renderMarkdown(report, diagnostics).split('\n\n')
  return [
    '<!doctype html>',
    `<html lang="${meta.report_language === 'zh' ? 'zh-CN' : meta.report_language}">`,
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title>`,
    `<style>${STYLE}</style></head>`,
    '<body>',
    markdownToHtml(heading),
    ...(chart === null ? [] : [`<figure>${chart}</figure>`]),
    markdownToHtml(rest.join('\n\n')),
    '</body></html>',
    '',
  ].join('\n')
}
