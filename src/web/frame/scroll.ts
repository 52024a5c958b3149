// How far a page is scrolled, kept with its place in the history of the tab: back, forward and a reload lead to where the reader
// was. The browser's own way looks once, when what is to be read has not come yet.

const NOTED_AFTER_MS = 150
/** A page that never becomes so long again is left where it is. */
const LONGEST_MS = 10_000
const TAKES_OVER = ['wheel', 'touchstart', 'pointerdown', 'keydown']

let timer: ReturnType<typeof setTimeout> | undefined
/** Ends the way back to a place; null where there is none under way. */
let stop: (() => void) | null = null

/** Before the address changes: the place that is left keeps where it was. */
export function noteScroll(): void {
  clearTimeout(timer)
  // A page that has not come to its length again is still to be read where it was.
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
    // What the router tells itself is of a page that was not there before.
    if (isTrusted) goTo(scrolledIn(state))
  })
  goTo(scrolledIn(history.state))
}

const asObject = (state: unknown): object => (typeof state === 'object' && state !== null ? state : {})

function scrolledIn(state: unknown): number | null {
  const place: unknown = Reflect.get(asObject(state), 'scrolled')
  return typeof place === 'number' ? Math.round(place) : null
}

/** There as soon as the page is long enough, unless the reader moves it before. */
function goTo(place: number | null): void {
  clearTimeout(timer)
  stop?.()
  if (place === null) return
  const { documentElement: root, body } = document
  // Looks first when the page of the address is drawn.
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
