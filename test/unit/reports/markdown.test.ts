import { expect, test } from 'vitest'
import { diagnosticSummary } from '../../../src/analysis/report/diagnostics.ts'
import { renderHtml } from '../../../src/analysis/report/render/html.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { reportView } from '../../../src/analysis/report/render/view.ts'
import type { AnalysisReport, ReportLanguage } from '../../../src/analysis/schemas.ts'
import { bounce } from '../analysis/series.ts'
import { makeReport, type ReportOptions } from './make-report.ts'

async function markdownOf(wanted: ReportOptions): Promise<string> {
  const { report, diagnostics } = await makeReport(wanted)
  return renderMarkdown(report, diagnosticSummary(diagnostics, wanted.language))
}

test('a full report reads top to bottom in each language: head, conclusion, score, levels, indicators, plan, limits, troubles', async () => {
  const { report } = await makeReport({ language: 'zh' })
  const score = report.summary.sentiment_score
  const wanted: Record<ReportLanguage, string[]> = {
    zh: [
      '# 贵州茅台（600519）分析报告',
      '- 最新价：1594.49元',
      '- 数据日期：2026-03-20 · 盘后',
      `- 操作建议：**${report.summary.operation_advice}**`,
      `- 综合评分：${score}/100（${report.summary.sentiment_label}）`,
      '- 置信度：',
      '## 结论',
      '贵州茅台（600519）2026-03-20 收于 1594.49元',
      '## 评分构成',
      '| 项目 | 得分 | 依据 |',
      '| 趋势 | ',
      `| **综合评分** | **${score} / 100** |`,
      '## 关键价位',
      `| 理想买点 | ${report.strategy?.ideal_buy} |`,
      `| 止损位 | ${report.strategy?.stop_loss} |`,
      '- 支撑：',
      '## 技术指标',
      '| 均线 5 / 10 / 20 / 60（前复权，tencent） | ',
      '## 操作计划',
      '## 数据质量',
      '- 行情：获取失败',
      '⚠️ 未配置新闻搜索渠道',
      '## 运行诊断：部分降级',
      '- 实时行情：全部来源失败：tencent: http\\_status (HTTP 503) \\[url\\]',
      '本报告由规则计算生成，未使用语言模型。',
    ],
    en: [
      '# 贵州茅台 (600519) Analysis',
      '- Price: 1594.49 CNY',
      '- Data as of: 2026-03-20 · After the close',
      '- Advice: **',
      '## Conclusion',
      '## What makes the score',
      '| Trend | ',
      '## Key levels',
      '| Ideal buy | ',
      '## Indicators',
      '## Data quality',
      '⚠️ No news search channel is configured',
      '## Diagnostics: Degraded',
      'without a language model',
    ],
    ko: [
      '# 贵州茅台 (600519) 분석 보고서',
      '- 현재가: 1594.49위안',
      '- 데이터 기준일: 2026-03-20 · 장 마감 후',
      '## 결론',
      '## 점수 구성',
      '## 주요 가격대',
      '| 이상적 매수가 | ',
      '## 기술적 지표',
      '## 데이터 품질',
      '⚠️ 뉴스 검색 채널이 설정되지 않아',
      '## 진단: 일부 저하',
      '언어 모델 없이',
    ],
  }
  for (const language of ['zh', 'en', 'ko'] as const) {
    const text = await markdownOf({ language })
    let at = 0
    for (const part of wanted[language]) {
      const found = text.indexOf(part, at)
      expect(found, `${part} after position ${at} of\n${text}`).toBeGreaterThanOrEqual(at)
      at = found + part.length
    }
  }
})

test('a short rise inside a long fall is no strong trend beside a sideways one: the overall trend and the short one are told apart', async () => {
  const wanted = {
    zh: ['- 综合趋势：震荡 · 短期', /^短期(?:强势|弱势)?多头/, '技术形态为短期'],
    en: [
      '- Overall trend: Sideways · ',
      /^(?:Strong u|Weak u|U)ptrend in the short term, score/,
      ' in the short term; ',
    ],
    ko: ['- 종합 추세: 횡보 · 단기 ', /^단기 .*상승 추세, 점수/, '기술적 흐름: 단기 '],
  } as const
  for (const language of ['zh', 'en', 'ko'] as const) {
    const { report } = await makeReport({ language, closes: bounce() })
    const [head, sentence, picture] = wanted[language]
    expect(reportView(report).oneSentence).toMatch(sentence)
    expect(report.summary.analysis_summary).toContain(picture)
    expect(renderMarkdown(report)).toContain(head)
    expect(renderHtml(report)).toContain(head.slice(2))
  }
})

test('the short forms keep advice, levels, risk and every notice, and leave the tables out', async () => {
  const simple = await markdownOf({ language: 'en', reportType: 'simple' })
  expect(simple).not.toContain('|')
  expect(simple).toContain('- Stop loss: ')
  expect(simple).toContain('No news search channel is configured')
  const brief = await markdownOf({ language: 'en', reportType: 'brief' })
  const body = brief.split('\n\n')[1] ?? ''
  expect(body).toMatch(/^Price: 1594\.49 CNY \([+-]\d+\.\d\d%\)\. .*score \d+\/100: .*\. Ideal buy .*\.$/)
  expect(brief).toContain('No news search channel is configured')
  expect(brief.length).toBeLessThan(simple.length + 200)
  expect(await markdownOf({ language: 'en', reportType: 'detailed' })).toBe(await markdownOf({ language: 'en' }))
})

test('a hostile name changes no line of any rendering', async () => {
  const hostile = '<img src=x onerror=alert(1)>|[a](javascript:b)\n# c\n| d |\u202e ![e](http://f) `g` **h**'
  for (const reportType of ['full', 'simple', 'brief'] as const) {
    const plain = (await markdownOf({ language: 'zh', reportType })).split('\n')
    const text = await markdownOf({ language: 'zh', reportType, name: hostile })
    const lines = text.split('\n')
    expect(lines.length).toBe(plain.length)
    const structure = (line: string) => line.replace(/\\./g, '').match(/^(#+ |\| |- |> |---)|[|`*]|\[|<[a-z]/g)
    expect(lines.map(structure)).toEqual(plain.map(structure))
    expect(text).not.toMatch(/[\u202e\r]|[^\\]\[a|http:\/\//)
  }
})

test('a report whose details are missing or foreign is rendered from what is there', async () => {
  const { report } = await makeReport({ language: 'en' })
  for (const details of [
    null,
    {
      ...(report.details as NonNullable<AnalysisReport['details']>),
      raw_result: { dashboard: 'text' },
      context_snapshot: { enhanced_context: { trend_analysis: { ma5: 'x' }, price_decimals: -3 } },
      analysis_context_pack_overview: null,
      empty_news_disclosure: null,
    },
  ]) {
    const text = renderMarkdown({ ...report, strategy: null, details })
    expect(text).toContain('# 贵州茅台 (600519) Analysis')
    expect(text).toContain('- Price: 1594.49')
    expect(text).toContain('## Conclusion')
    expect(text).not.toContain('## Key levels')
    expect(text).not.toContain('null')
  }
  const modelMade = { ...report, meta: { ...report.meta, model_used: 'vendor/model_x' } }
  expect(renderMarkdown(modelMade)).toContain('Model: vendor/model\\_x')
})
