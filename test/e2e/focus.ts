// What a test asks of the focus, in the page: both functions are sent there whole.

export type Focus = {
  isThere: boolean
  /** The same element as at the last look. */
  isSame: boolean
  name: string
  /** What leads one step on towards the control. */
  key: string
  fault: string | null
}

/** Where the focus stands, seen from the control that is wanted. */
export function focusOf(control: Element): Focus {
  const now = document.activeElement ?? document.body
  const page = window as Window & { lastFocus?: Element }
  // A date has a stop for each of its parts.
  const isParted = now instanceof HTMLInputElement && /^(date|time|datetime-local)$/.test(now.type)
  const isSame = page.lastFocus === now && !isParted
  page.lastFocus = now
  const isShown = (one: Element | null): boolean => {
    if (one === null) return false
    const { outlineStyle, outlineWidth, opacity } = getComputedStyle(one)
    const { width, height } = one.getBoundingClientRect()
    return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1 && opacity !== '0' && width > 2 && height > 2
  }
  /** The control, the label that stands for it, or the screen that it types into. */
  const seen = [now, now.parentElement, now.closest('label, .ws-screen')].find(isShown) ?? null
  const isTheir = (one: Element) => one === document.body || one.getAttribute('tabindex') === '-1'
  const isCovered = (one: Element): boolean => {
    const { left, right, top, bottom } = one.getBoundingClientRect()
    const [x, y] = [Math.max(left, 0) + Math.min(right, innerWidth), Math.max(top, 0) + Math.min(bottom, innerHeight)]
    const at = document.elementFromPoint(x / 2, y / 2)
    return at === null || !(one.contains(at) || at.contains(one) || at.closest('label')?.contains(one))
  }
  const fault = isTheir(now)
    ? null
    : seen === null
      ? 'the focus does not show'
      : isCovered(seen)
        ? 'what has the focus is out of sight'
        : null
  const isBehind = Boolean(control.compareDocumentPosition(now) & Node.DOCUMENT_POSITION_FOLLOWING)
  const isOf = (one: Element): one is HTMLInputElement => one instanceof HTMLInputElement && one.type === 'radio'
  const isGroup = isOf(now) && isOf(control) && now.name === control.name && now.form === control.form
  const name = `${now.tagName.toLowerCase()} ${now.getAttribute('type') ?? ''} ${(now.getAttribute('aria-label') ?? now.textContent ?? now.id).trim().slice(0, 40)}`
  const key = isGroup ? (isBehind ? 'ArrowUp' : 'ArrowDown') : isBehind && now !== document.body ? 'Shift+Tab' : 'Tab'
  return { isThere: now === control, isSame, name, key, fault }
}

/** Nothing has the focus though the window has it. */
export const isLost = (): boolean => document.activeElement === null || document.activeElement === document.body
