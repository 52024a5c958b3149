// The steps of those lists in CONTRIBUTING that extend an analysis; a test follows them exactly in a copy of the tree.

import type { ScratchCopy } from './scratch-copy.ts'

/** The fields of a unit, each with its source text. */
export type Fields = Readonly<Record<string, string>>

export type List = {
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

export const CHANNEL: List = {
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
      `import type { MarketDataProvider } from './provider.ts'
export function ${name}Provider(options: { url: string }): MarketDataProvider {
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

export const INDICATOR: List = {
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
    const imports = "import { averageTrueRange, bollingerBands } from './volatility.ts'\n"
    await copy.edit(path, imports, `import { ${name} } from './${name}.ts'\n${imports}`)
    await copy.edit(path, 'export const INDICATORS = [\n', `export const INDICATORS = [\n  ${name},\n`)
  },
}

export const ANALYSIS_LISTS = [CHANNEL, MARKET, NEWS, INDICATOR]
