// The scroll position of a page, stored with its entry in the tab's history: back, forward and a reload restore it. The
// browser itself restores it only once, when the content is not loaded yet.

const NOTED_AFTER_MS = 150
/** If the page does not become long enough in this time, it is not scrolled. */
const LONGEST_MS = 10_000
const TAKES_OVER = ['wheel', 'touchstart', 'pointerdown', 'keydown']

let timer: ReturnType<typeof setTimeout> | undefined
/** Stops restoring a position; null if none is in progress. */
let stop: (() => void) | null = null

/** Before the URL changes: stores the position of the page that is left. */
export function noteScroll(): void {
  clearTimeout(timer)
  // While a position is being restored, that position is kept.
  if (stop !== null) {
    stop()
    return
  }
  const state: unknown = history.state
  if ((scrolledIn(state) ?? 0) !== Math.round(scrollY))
    history.replaceState({ ...asObject(state), scrolled: scrollY }, '')
}

export function keepScroll(): void {
  history.scrollRestoration = 'manual'
  addEventListener('scroll', () => {
    clearTimeout(timer)
    if (stop === null) timer = setTimeout(noteScroll, NOTED_AFTER_MS)
  })
  addEventListener('popstate', ({ isTrusted, state }) => {
    // Events of the router itself are about a new page.
    if (isTrusted) goTo(scrolledIn(state))
  })
  goTo(scrolledIn(history.state))
}

const asObject = (state: unknown): object => (typeof state === 'object' && state !== null ? state : {})

function scrolledIn(state: unknown): number | null {
  const place: unknown = Reflect.get(asObject(state), 'scrolled')
  return typeof place === 'number' ? Math.round(place) : null
}

/** Scrolls as soon as the page is long enough, unless the user scrolls before. */
function goTo(place: number | null): void {
  clearTimeout(timer)
  stop?.()
  if (place === null) return
  const { documentElement: root, body } = document
  // Starts when the page of the URL is rendered.
  const observer = new ResizeObserver(() => {
    scrollTo(0, place)
    if (root.scrollHeight - root.clientHeight >= place) end()
  })
  const end = () => {
    clearTimeout(limit)
    observer.disconnect()
    for (const kind of TAKES_OVER) removeEventListener(kind, end)
    stop = null
  }
  const limit = setTimeout(end, LONGEST_MS)
  for (const kind of TAKES_OVER) addEventListener(kind, end, { passive: true })
  stop = end
  observer.observe(body)
}
