// Where the reader of a log is: what stays in its place while entries come, go and grow, and what a jump leads to.

/** The entry at the upper edge of what is seen, and how far it is from it: what stays there while the log grows or shrinks. */
export type Anchor = { key: string; offset: number }

export function anchorOf(log: HTMLElement): Anchor | null {
  const top = log.scrollTop + log.offsetTop
  const entries = log.querySelectorAll<HTMLElement>('[data-entry]')
  // The entries stand below each other: the first that reaches below the edge is found by halving.
  let [from, to] = [0, entries.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const entry = entries[middle]
    if (entry && entry.offsetTop + entry.offsetHeight > top) to = middle
    else from = middle + 1
  }
  const found = entries[from]
  return found === undefined ? null : { key: found.dataset.entry ?? '', offset: found.offsetTop - top }
}

export function restore(log: HTMLElement, { key, offset }: Anchor): void {
  const entry = log.querySelector<HTMLElement>(`[data-entry="${CSS.escape(key)}"]`)
  if (entry !== null) log.scrollTop = entry.offsetTop - offset - log.offsetTop
}

/** A jump is over when nothing around its end moved in so many frames. */
const QUIET_FRAMES = 3
/** A page whose entries never come to rest is left where it is. */
const MOST_FRAMES = 40
const TAKES_OVER = ['wheel', 'pointerdown', 'keydown', 'focusin']

/**
 * What a jump leads to stays in sight until the reader moves on: an entry has its height only once it comes near, a page of events
 * comes around it, colours and pictures come later.
 */
export function keepInSight(log: HTMLElement, onMoved: () => void, onTakenOver: () => void): () => void {
  let frame = 0
  const step = (quiet: number, left: number) => {
    const before = log.scrollTop
    bringIntoSight(log)
    onMoved()
    const stayed = log.scrollTop === before ? quiet + 1 : 0
    if (stayed < QUIET_FRAMES && left > 0) frame = requestAnimationFrame(() => step(stayed, left - 1))
  }
  const begin = () => {
    cancelAnimationFrame(frame)
    step(0, MOST_FRAMES)
  }
  const observer = new ResizeObserver(begin)
  const stop = () => {
    cancelAnimationFrame(frame)
    observer.disconnect()
    for (const kind of TAKES_OVER) log.removeEventListener(kind, leave)
  }
  const leave = () => {
    stop()
    onTakenOver()
  }
  for (const kind of TAKES_OVER) log.addEventListener(kind, leave, { passive: true })
  begin()
  observer.observe(log)
  if (log.firstElementChild !== null) observer.observe(log.firstElementChild)
  return stop
}

/** What its mark is drawn beyond it. */
const MARK_PX = 12

/** Into the middle, and what is taller than the log with its beginning. Nothing but the log is scrolled. */
function bringIntoSight(log: HTMLElement): void {
  const entry = log.querySelector<HTMLElement>('.focused')
  if (entry === null) return
  const room = Math.max(MARK_PX, (log.clientHeight - entry.offsetHeight) / 2)
  log.scrollTop = entry.offsetTop - log.offsetTop - room
}
