// The lists of CONTRIBUTING.md that add something to an analysis, followed word for word in a copy of the tree: what they
// name is all that has to be touched, and what they call for cannot be forgotten.

import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { type ScratchCopy, scratchCopy } from '../support/scratch-copy.ts'
import { textOf } from '../support/source-tree.ts'

/** The fields of a unit, each with its source text. */
type Fields = Readonly<Record<string, string>>

type List = {
  heading: string
  /** The source files that the list names. */
  names: string[]
  fields: Fields
  /** Adds the unit; `name` may be of a file, of a variable and of a kind. */
  add: (copy: ScratchCopy, name: string, fields: Fields) => Promise<void>
}

const sourceOf = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, text]) => `${name}: ${text},`)
    .join('\n')

const CHANNEL: List = {
  heading: 'To add a notification channel',
  names: ['src/notify/channels/<name>.ts', 'src/notify/registry.ts'],
  fields: {
    settings: 'z.object({ key: token(), topic: word().optional() })',
    secrets: "['key']",
    environment: "{ key: tokenIn('EXAMPLE_CHANNEL_KEY'), topic: null }",
    open: `({ key, topic }) => ({
      limit: { unit: 'characters', max: 1_000 },
      pace: [{ count: 1, windowMs: 1_000 }],
      recognisesRepeats: false,
      render: asMarkdown,
      request: (part, text) => ({
        url: 'https://example.com/',
        headers: JSON_TYPE,
        body: JSON.stringify({ key, topic, title: titled(part, 100), text }),
      }),
    })`,
  },
  async add(copy, name, fields) {
    await copy.write(
      `src/notify/channels/${name}.ts`,
      `import { z } from 'zod'
import { defineChannel, JSON_TYPE } from '../channel.ts'
import { asMarkdown, titled } from '../dialects.ts'
import { token, tokenIn, word } from '../fields.ts'
export const ${name} = defineChannel({
${sourceOf(fields)}
})
void [z, JSON_TYPE, asMarkdown, titled, tokenIn, token, word]
`,
    )
    await copy.edit(
      'src/notify/registry.ts',
      "import type { Channel } from './channel.ts'\n",
      `import type { Channel } from './channel.ts'\nimport { ${name} } from './channels/${name}.ts'\n`,
    )
    await copy.edit('src/notify/registry.ts', 'export const CHANNELS = {\n', `export const CHANNELS = {\n  ${name},\n`)
  },
}

const MARKET: List = {
  heading: 'To add a market data provider',
  names: ['src/market/providers/<name>.ts', 'src/market/providers/registry.ts', 'src/market/consistency/examine.ts'],
  fields: {
    isLive: 'true',
    variables: "{ EXAMPLE_MARKET_URL: baseUrl('https://example.com') }",
    load: "() => import('./NAME.ts')",
    make: '(module, values, deps) => module.NAMEProvider({ ...deps, url: values.EXAMPLE_MARKET_URL })',
  },
  async add(copy, name, fields) {
    await copy.write(
      `src/market/providers/${name}.ts`,
      `import type { ProviderDeps } from './registry.ts'
import type { MarketDataProvider } from './provider.ts'
export function ${name}Provider(options: ProviderDeps & { url: string }): MarketDataProvider {
  return {
    name: '${name}',
    provenance: () => null,
    supports: ({ market }, need) => market === 'us' && need === 'belong_boards' && options.url !== '',
  }
}
`,
    )
    await copy.edit(
      'src/market/providers/registry.ts',
      '  sample: provider({',
      `  ${name}: provider({\n${sourceOf(fields).replaceAll('NAME', name)}\n}),\n  sample: provider({`,
    )
    await copy.edit(
      'src/market/consistency/examine.ts',
      "  alphavantage: 'none',\n",
      `  alphavantage: 'none',\n  ${name}: 'forward',\n`,
    )
  },
}

const NEWS: List = {
  heading: 'To add a news provider',
  names: ['src/news/providers/<name>.ts', 'src/news/providers/registry.ts'],
  fields: {
    variables: '{ EXAMPLE_NEWS_KEY: providerKey() }',
    load: "() => import('./NAME.ts')",
    make: `(module, { EXAMPLE_NEWS_KEY: key }, deps: SearchProviderDeps) =>
      key === undefined ? null : module.NAME({ ...deps, key, url: 'https://example.com' })`,
  },
  async add(copy, name, fields) {
    await copy.write(
      `src/news/providers/${name}.ts`,
      `import type { SearchOptions, SearchProvider } from '../search-provider.ts'
export const ${name} = ({ url }: SearchOptions): SearchProvider => ({
  name: '${name}',
  search: async ({ text }) => (text === url ? [] : []),
})
`,
    )
    await copy.edit(
      'src/news/providers/registry.ts',
      '  searxng: lazyUnit({',
      `  ${name}: lazyUnit({\n${sourceOf(fields).replaceAll('NAME', name)}\n}),\n  searxng: lazyUnit({`,
    )
  },
}

const INDICATOR: List = {
  heading: 'To add an indicator',
  names: ['src/market/indicators/<name>.ts', 'src/market/indicators/index.ts'],
  fields: {
    part: "'ranges'",
    lines: "{ NAMELine: { warmUp: 2, field: 'example_figure_NAME', isPercent: false } }",
    compute: '({ close }) => ({ NAMELine: sma(close, 3) })',
  },
  async add(copy, name, fields) {
    await copy.write(
      `src/market/indicators/${name}.ts`,
      `import { sma } from './averages.ts'
import { defineIndicator } from './series.ts'
export const ${name} = defineIndicator({
${sourceOf(fields).replaceAll('NAME', name)}
})
void sma
`,
    )
    const path = 'src/market/indicators/index.ts'
    await copy.edit(
      path,
      "import { type Series, valueAt } from './series.ts'\n",
      `import { ${name} } from './${name}.ts'\nimport { type Series, valueAt } from './series.ts'\n`,
    )
    await copy.edit(path, 'export const INDICATORS = [\n', `export const INDICATORS = [\n  ${name},\n`)
  },
}

const LISTS = [CHANNEL, MARKET, NEWS, INDICATOR]

test('each list names the source files that its unit is added in, and no others', () => {
  const contributing = textOf('CONTRIBUTING.md')
  for (const { heading, names } of LISTS) {
    const section = contributing.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
    expect([heading, [...section.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path)]).toEqual([heading, names])
  }
})

test('a unit that is added as its list says is complete, and one without any of its fields is a type error', async () => {
  const copy = await scratchCopy()
  for (const { add, fields } of LISTS) await add(copy, 'example', fields)
  expect(await copy.types()).toBe('')
  expect(derivedIn(copy.root)).toEqual({
    variables: ['EXAMPLE_CHANNEL_KEY', 'EXAMPLE_MARKET_URL', 'EXAMPLE_NEWS_KEY'],
    kinds: ['example'],
    order: ['tencent', 'yahoo', 'eastmoney', 'sina', 'tushare', 'finnhub', 'alphavantage', 'example'],
    figures: ['example_figure_example'],
    ofOlderReports: null,
  })

  const left: string[] = []
  for (const { add, fields } of LISTS) {
    for (const field of Object.keys(fields)) {
      const name = `without${left.length}`
      const rest = Object.fromEntries(Object.entries(fields).filter(([one]) => one !== field))
      await add(copy, name, rest)
      left.push(field)
    }
  }
  // Inside a field: a setting of which nobody says where the operator sets it, and a series without its warm-up.
  await CHANNEL.add(copy, 'within0', { ...CHANNEL.fields, environment: "{ key: tokenIn('EXAMPLE_OTHER_KEY') }" })
  await INDICATOR.add(copy, 'within1', { ...INDICATOR.fields, lines: "{ NAMELine: { field: 'x', isPercent: false } }" })
  const told = (await copy.types()).split(/\n(?=\S)/)
  const forgotten = [...left, 'topic', 'warmUp'].sort()
  const missed = told.flatMap((line) => /Property '(\w+)' is missing/.exec(line)?.[1] ?? [])
  expect(missed.filter((field) => forgotten.includes(field)).sort()).toEqual(forgotten)
})

/** What the copy makes of the units, asked of the copy itself. */
function derivedIn(root: string): unknown {
  const program = `
    import { parseConfig, VARIABLES } from './src/config.ts'
    import { CHANNEL_KINDS } from './src/notify/registry.ts'
    import { TrendAnalysis } from './src/analysis/report/trend-analysis.ts'
    const examples = (names) => names.filter((name) => /example/i.test(name)).sort()
    console.log(JSON.stringify({
      variables: examples(VARIABLES.map(({ name }) => name)),
      kinds: examples(CHANNEL_KINDS),
      order: parseConfig({ AUTH_MODE: 'local' }).marketData,
      figures: examples(Object.keys(TrendAnalysis.shape)),
      ofOlderReports: TrendAnalysis.shape.example_figure_example?.parse(undefined),
    }))`
  const answer = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: root, encoding: 'utf8' })
  return JSON.parse(answer)
}
