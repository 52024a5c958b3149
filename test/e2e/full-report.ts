// What reports on the sample never have, put into the answers of the service: words of a model, news of others, checks that warn,
// a gate, strategies, what changed; and the boards of a market review.

type Json = { [name: string]: unknown }
export type Answer = { result: { report: { meta: Json; details: { raw_result: Json; context_snapshot: Json } } } }
export type Recorded = { details: { context_snapshot: { market_review_payload: Json } } }

const LONG = 'A sentence of a stranger that goes on for longer than a line of a phone has room for, with '

const COMMENT = {
  notice: 'Words of the model openai/scripted; the advice above is not its own.',
  contradiction: 'The model would rather sell.',
  sentences: [
    { text: `${LONG}a figure that the data bear.`, mark: null, cites: [1, 2] },
    { text: 'The profit doubles next year.', mark: 'doubtful', cites: [] },
    { text: 'The mood is good.', mark: 'undecidable', cites: [2] },
  ],
  evidence: [
    { n: 1, text: 'price = 1402.02' },
    { n: 2, text: 'score = 59' },
  ],
  counts: { dropped: 2 },
}

const FINDING = {
  label: 'Second source',
  text: 'Another source tells another close.',
  touches: ['price', 'change', 'averages', 'range', 'levels', 'volume', 'valuation'],
}

const STRATEGY = {
  verdict_label: 'not met',
  met: ['MA5 above MA10'],
  unmet: ['the volume grows'],
  unknown: ['money comes in'],
}

const NEWS = [
  {
    title: `${LONG}a link`,
    url: 'https://news.example/1',
    source: 'news.example',
    publishedAt: '2025-12-30T00:00:00Z',
  },
  { title: 'Without an address', url: null, source: 'wire', publishedAt: null },
]

/** `isWithheld`: the figures failed a check, so there is no score and no chart. */
export function withEverything({ result, ...rest }: Answer, isWithheld: boolean): Answer {
  const { meta, details, ...report } = result.report
  const verdict = isWithheld ? 'fail' : 'warn'
  const raw = {
    ...details.raw_result,
    model_comment: COMMENT,
    consistency: { blocked: isWithheld, findings: [{ ...FINDING, verdict }] },
    guardrail_interventions: [{ raw_score: 72, score: 59, reason: 'The longer trends fall.' }],
    strategy_synthesis: { findings: [1, 2, 3].map((n) => ({ name: `Strategy ${n}`, ...STRATEGY })) },
    changes_since_previous: { sentences: ['price +1.20 % since 2025-12-24', 'score 52 → 59'] },
    fundamental_analysis: `${LONG}revenue and profit.`,
  }
  const context = { ...details.context_snapshot, news_items: NEWS }
  const told = { reading: '茅台 was read as 600519.', data_checks: 'A check of the figures warns: second source.' }
  const full = {
    ...report,
    meta: { ...meta, ...told },
    details: { ...details, raw_result: raw, context_snapshot: context },
  }
  return { ...rest, result: { ...result, report: full } }
}

const CHANGES = [6.2, 3.1, 2.2, 1.4, 0.6, 0]
const board = (name: string) => ({
  top: CHANGES.map((change_pct) => ({ name: `${name} +${change_pct}`, change_pct })),
  bottom: CHANGES.slice(0, -1).map((change_pct) => ({ name: `${name} −${change_pct}`, change_pct: -change_pct })),
})

/** Every step of the colours of a map. */
export function withBoards({ details, ...rest }: Recorded): Recorded {
  const { context_snapshot: context } = details
  const payload = {
    ...context.market_review_payload,
    sectors: board('白酒'),
    concepts: board('Artificial intelligence'),
  }
  return { ...rest, details: { ...details, context_snapshot: { ...context, market_review_payload: payload } } }
}
