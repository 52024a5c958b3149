import { say } from './texts.ts'

type ChoiceProps = {
  label: string
  value: string
  options: readonly (readonly [value: string, label: string])[]
  onValue: (value: string) => void
}

/** One out of a list, with its name above. */
export const Choice = ({ label, value, options, onValue }: ChoiceProps) => (
  <label class="choice">
    <span>{label}</span>
    <select value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      {options.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  </label>
)

type PagerProps = { page: number; pages: number; onPage: (page: number) => void }

/** The way through a list of which the newest page is the first; nothing where one page is all. */
export const Pager = ({ page, pages, onPage }: PagerProps) =>
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

type SwitchProps = { one: { name: string; enabled: boolean }; onSwitch: () => void }

/** Of something with a name that can be on or off. */
export const SwitchButton = ({ one: { name, enabled }, onSwitch }: SwitchProps) => (
  <button
    type="button"
    aria-label={say(enabled ? 'Switch off: {name}' : 'Switch on: {name}', { name })}
    onClick={onSwitch}
  >
    {say(enabled ? 'Switch off' : 'Switch on')}
  </button>
)
