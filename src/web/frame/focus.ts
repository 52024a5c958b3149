// The focus of whoever uses the keyboard. A control that is taken away, hidden or switched off while it has the focus would leave it
// nowhere: a screen reader falls silent, and the next Tab begins at the head of the page. It goes to the nearest control then.

const STOPS =
  'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"]), [contenteditable]:not([contenteditable="false"])'

/** The control, and for each element around it the place of the child that leads to it. */
type FocusPosition = { control: HTMLElement; way: { around: Element; at: number }[] }

let last: FocusPosition | null = null
/** That it was the page that took the focus away, and not the reader who left. */
let isTaken = false
let waiting: ReturnType<typeof setTimeout> | null = null

/** A button is switched off while its work is done, and comes back; one that stays off for so long is left. */
const OFF_FOR_GOOD_MS = 1_500

export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    forget()
    if (target instanceof HTMLElement && target !== document.body) last = placeOf(target)
  })
  document.addEventListener('focusout', () => {
    setTimeout(() => {
      look()
      // Gone from a control that is still there: out of the page.
      if (isLost() && !isTaken) forget()
    })
  })
  // A narrow window hides what a wide one has.
  addEventListener('resize', look)
  document.addEventListener('pointerdown', forget, { capture: true })
  const watched = {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled', 'hidden', 'inert', 'open'],
  }
  new MutationObserver(look).observe(document.body, watched)
}

function forget(): void {
  last = null
  isTaken = false
  if (waiting !== null) clearTimeout(waiting)
  waiting = null
}

const isLost = (): boolean => document.activeElement === null || document.activeElement === document.body
const isThere = (control: HTMLElement): boolean => control.isConnected && control.checkVisibility()
const isOff = (control: HTMLElement): boolean => control.isConnected && control.matches(':disabled')

function placeOf(control: HTMLElement): FocusPosition {
  const way: FocusPosition['way'] = []
  for (let child: Element = control; child.parentElement !== null; child = child.parentElement)
    way.push({ around: child.parentElement, at: [...child.parentElement.children].indexOf(child) })
  return { control, way }
}

function look(): void {
  if (last === null) return
  // Whether it can be seen is asked only where the focus is gone: that lays out the page.
  if (!last.control.isConnected || isOff(last.control) || (isLost() && !isThere(last.control))) isTaken = true
  // After the effects of what was drawn, which may put the focus somewhere themselves.
  if (isTaken) requestAnimationFrame(() => setTimeout(mend))
}

function mend(): void {
  if (last === null || !isTaken || !isLost()) return
  const { control } = last
  if (!isOff(control)) {
    const next = isThere(control) ? control : nearest(last, false)
    next?.focus()
    return
  }
  waiting ??= setTimeout(() => {
    if (last?.control === control && isLost() && isOff(control)) nearest(last, true)?.focus()
  }, OFF_FOR_GOOD_MS)
}

/** Out of a form whose button is off one goes back to its fields, otherwise on. */
function nearest({ way }: FocusPosition, isBackFirst: boolean): HTMLElement | null {
  for (const { around, at } of way) {
    if (!around.isConnected) continue
    // What scrolls and can be focused itself keeps its place.
    if (around instanceof HTMLElement && around.matches(STOPS)) return around
    const children = [...around.children]
    const before = children.slice(0, at).flatMap(stopsIn).at(-1)
    const after = children.slice(at).flatMap(stopsIn)[0]
    const found = isBackFirst ? (before ?? after) : (after ?? before)
    if (found !== undefined) return found
    if (around.matches('main, dialog')) break
  }
  return document.querySelector<HTMLElement>('#content')
}

const stopsIn = (one: Element): HTMLElement[] =>
  [one, ...one.querySelectorAll(STOPS)].filter(
    (stop): stop is HTMLElement =>
      stop instanceof HTMLElement &&
      stop.matches(STOPS) &&
      !stop.matches(':disabled, [tabindex="-1"]') &&
      !isPassedOver(stop) &&
      stop.checkVisibility(),
  )

/** Of radio buttons the Tab key comes to the chosen one alone: the focus on another would look like a choice that is none. */
function isPassedOver(stop: HTMLElement): boolean {
  if (!(stop instanceof HTMLInputElement) || stop.type !== 'radio' || stop.checked) return false
  return [...document.getElementsByName(stop.name)].some(
    (other) => other instanceof HTMLInputElement && other.form === stop.form && other.checked && !other.disabled,
  )
}
