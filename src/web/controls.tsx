import { useEffect } from 'preact/hooks'
import { Labelled } from './form.tsx'
import { say } from './texts.ts'

type ChoiceProps = {
  label: string
  /** The name of the field in the API, if it belongs to a form. */
  name?: string | undefined
  value: string
  options: readonly (readonly [value: string, label: string])[]
  onValue: (value: string) => void
}

/** A selection from a list, with its label above. */
export const Choice = ({ label, name, value, options, onValue }: ChoiceProps) => (
  <Labelled label={label} name={name}>
    {(attributes) => (
      <select value={value} {...attributes} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    )}
  </Labelled>
)

type PagerProps = { page: number; pages: number; onPage: (page: number) => void }

/** Navigates the pages of a list with the newest first; not shown for a single page. */
const Pager = ({ page, pages, onPage }: PagerProps) =>
  pages > 1 && (
    <div class="filters">
      <button type="button" disabled={page === 1} onClick={() => onPage(page - 1)}>
        {say('Newer')}
      </button>
      <span class="hint">{say('Page {page} of {pages}', { page, pages })}</span>
      <button type="button" disabled={page >= pages} onClick={() => onPage(page + 1)}>
        {say('Older')}
      </button>
    </div>
  )

type PagesProps = {
  /** Null before the first answer. */
  total: number | null
  perPage: number
  page: number
  onPage: (page: string, way?: 'replace') => void
}

/** The pages of a list, with the page in the URL. Beyond the end, for example after a deletion, the last page is shown. */
export function PagesOf({ total, perPage, page, onPage }: PagesProps) {
  const pages = Math.max(1, Math.ceil((total ?? 0) / perPage))
  const isBeyond = total !== null && page > pages
  useEffect(() => {
    if (isBeyond) onPage(String(pages), 'replace')
  }, [isBeyond])
  return <Pager page={Math.min(page, pages)} pages={pages} onPage={(to) => onPage(String(to))} />
}

type SwitchProps = { one: { name: string; enabled: boolean }; onSwitch: () => void }

/** Switches a named item on or off. */
export const SwitchButton = ({ one: { name, enabled }, onSwitch }: SwitchProps) => (
  <button
    type="button"
    aria-label={say(enabled ? 'Switch off: {name}' : 'Switch on: {name}', { name })}
    onClick={onSwitch}
  >
    {say(enabled ? 'Switch off' : 'Switch on')}
  </button>
)
