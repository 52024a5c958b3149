import { languageTag, say, type Text } from '../texts.ts'
import { Mark } from './report-parts.tsx'
import type { Checks } from './stored-parts.ts'

// The data of a report. Its members differ by market, data source and model, so they are shown with their own names
// instead of in a fixed form, which would omit some.

const MAX_DEPTH = 6
/** Shown elsewhere on the page. */
const SHOWN_ABOVE = new Set(['empty_news_disclosure'])

export function Details({ details, checks }: { details: Record<string, unknown>; checks: Checks }) {
  const blocks = Object.entries(details).filter(([key, value]) => !SHOWN_ABOVE.has(key) && !isBlank(value))
  if (blocks.length === 0) return null
  return (
    <section class="details" aria-labelledby="details-head">
      <h2 id="details-head" lang={languageTag}>
        {say('All stored fields')}
      </h2>
      {blocks.map(([key, value]) => (
        <details key={key} class="detail">
          <summary>
            {blockTitle(key)} <Mark checks={checks} />
          </summary>
          <div class="detail-body">
            <Value value={value} depth={0} />
          </div>
        </details>
      ))}
    </section>
  )
}

/** Titles of the parts that the API defines; their members have their own names. */
const BLOCKS: Readonly<Record<string, Text>> = {
  raw_result: 'Raw result',
  news_content: 'News',
  context_snapshot: 'What the report was made from',
  analysis_context_pack_overview: 'What the report rests on',
  market_structure: 'Structure of the market',
}

function blockTitle(name: string) {
  const known = BLOCKS[name]
  return known === undefined ? title(name) : <span lang={languageTag}>{say(known)}</span>
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (Array.isArray(value)) return <Items items={value} depth={depth} />
  if (typeof value === 'object' && value !== null) return <Fields fields={Object.entries(value)} depth={depth} />
  return <span class="value">{String(value)}</span>
}

function Items({ items, depth }: { items: unknown[]; depth: number }) {
  if (depth >= MAX_DEPTH) return <span class="value">{JSON.stringify(items)}</span>
  return (
    <ul class="items">
      {items.map((item, index) => (
        <li key={index}>
          <Value value={item} depth={depth + 1} />
        </li>
      ))}
    </ul>
  )
}

function Fields({ fields, depth }: { fields: [string, unknown][]; depth: number }) {
  if (depth >= MAX_DEPTH) return <span class="value">{JSON.stringify(Object.fromEntries(fields))}</span>
  return (
    <dl class="fields-list">
      {fields
        .filter(([, value]) => !isBlank(value))
        .map(([key, value]) => (
          <div key={key} class={typeof value === 'object' ? 'nested' : 'plain'}>
            <dt>{title(key)}</dt>
            <dd>
              <Value value={value} depth={depth + 1} />
            </dd>
          </div>
        ))}
    </dl>
  )
}

function isBlank(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.values(value).every(isBlank)
}

function title(key: string): string {
  const spaced = key.replaceAll('_', ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}
