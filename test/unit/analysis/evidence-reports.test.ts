import { expect, test } from 'vitest'
import type { EvidenceRow } from '../../../src/analysis/evidence/vocabulary.ts'
import { renderMarkdown } from '../../../src/analysis/report/render/markdown.ts'
import { ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import { got, reportWith, WHOLE } from './company-reports.ts'
import { ROW } from './evidence-row.ts'

const rawOf = (report: Awaited<ReturnType<typeof reportWith>>) => report.details?.raw_result as Record<string, unknown>

test('a report quotes the evidence that applies to it, also when that shows nothing, and has no probability below its size', async () => {
  for (const language of ReportLanguage.options) {
    const words = textsOf(language).evidence
    const told = async (rows: EvidenceRow[] | null) => {
      const report = await reportWith(WHOLE, { evidenceRows: async () => rows }, { language })
      return { raw: rawOf(report), markdown: renderMarkdown(report) }
    }
    const shown = await told([{ ...ROW, group: 'sell' }, ROW])
    expect(shown.raw).toMatchObject({
      confidence_probability: 0.546,
      confidence_brier_skill: -0.0012,
      confidence_least_size: 30,
      evidence: { row: ROW },
    })
    for (const figure of ['1234', '210', '+1.20', '+0.90', '+0.30', '-1.10', '+1.70', '55', '52', '-0.001'])
      expect(shown.markdown).toContain(figure)
    expect(shown.markdown).toContain(words.noEdge.split('{')[0])

    const few = await told([{ ...ROW, verdict: 'too_few', confidence_probability: null, brier_skill: null }])
    expect(few.raw).toMatchObject({ confidence_probability: null, confidence_brier_skill: null })
    expect(few.markdown).toContain(words.tooFew.replace('{least}', '30'))

    const edge = await told([{ ...ROW, verdict: 'edge' }])
    expect(edge.markdown).toContain(words.edge.split('{')[0])

    const none = await told(null)
    expect(none.raw).toMatchObject({ confidence_probability: null, evidence: { row: null, text: words.none } })
    expect(none.markdown).toContain(words.none)
  }
})

test('what cannot be had costs no report, and a report without advice quotes no evidence', async () => {
  const lost = await reportWith(WHOLE, {
    evidenceRows: async () => {
      throw new Error('the database is away')
    },
  })
  expect(rawOf(lost)).toMatchObject({ confidence_probability: null, evidence: { row: null } })
  const torn = { evidenceRows: async () => [ROW], dailyBars: async () => got([]) }
  const blocked = rawOf(await reportWith(WHOLE, torn))
  expect(blocked.evidence === null || (blocked.evidence as { row: unknown }).row === null).toBe(true)
})
