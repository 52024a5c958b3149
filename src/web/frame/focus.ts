// The keyboard focus. If the focused control is removed, hidden or disabled, the focus would be lost: a screen reader
// becomes silent, and the next Tab starts at the top of the page. So the focus moves to the nearest control.

const STOPS =
  'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"]), [contenteditable]:not([contenteditable="false"])'

/** The control, and for each element around it the index of the child that leads to it. */
type FocusPosition = { control: HTMLElement; way: { around: Element; at: number }[] }

let last: FocusPosition | null = null
/** Whether the page removed the focus, not the user. */
let isTaken = false
let waiting: ReturnType<typeof setTimeout> | null = null

/** A button is disabled during its work and enabled again; if it stays disabled for this long, the focus moves on. */
const OFF_FOR_GOOD_MS = 1_500

export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    forget()
    if (target instanceof HTMLElement && target !== document.body) last = placeOf(target)
  })
  document.addEventListener('focusout', () => {
    setTimeout(() => {
      look()
      // The control still exists, so the focus has left the page.
      if (isLost() && !isTaken) forget()
    })
  })
  // A narrow window hides controls of a wide one.
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
  // Visibility is checked only if the focus is lost, because the check causes a layout.
  if (!last.control.isConnected || isOff(last.control) || (isLost() && !isThere(last.control))) isTaken = true
  // After the effects of the rendering, which may set the focus themselves.
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

/** From a form with a disabled button it goes back to the fields, otherwise forward. */
function nearest({ way }: FocusPosition, isBackFirst: boolean): HTMLElement | null {
  for (const { around, at } of way) {
    if (!around.isConnected) continue
    // A focusable element that scrolls keeps its focus.
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

/** The Tab key reaches only the selected radio button of a group: focus on another would look like a selection. */
function isPassedOver(stop: HTMLElement): boolean {
  if (!(stop instanceof HTMLInputElement) || stop.type !== 'radio' || stop.checked) return false
  return [...document.getElementsByName(stop.name)].some(
    (other) => other instanceof HTMLInputElement && other.form === stop.form && other.checked && !other.disabled,
  )
}
