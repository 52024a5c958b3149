// The user's position in a log: it is kept while entries are added, removed and resized, and it is the target of a
// jump.

/**
 * The entry at the upper edge of the visible area, and its distance from the edge: this is kept constant while the log
 * grows or shrinks.
 */
export type Anchor = { key: string; offset: number }

export function anchorOf(log: HTMLElement): Anchor | null {
  const top = log.scrollTop + log.offsetTop
  const entries = log.querySelectorAll<HTMLElement>('[data-entry]')
  // The entries are below each other: a binary search finds the first one that extends below the edge.
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

/** A jump is finished when nothing around its target has moved for this many frames. */
const QUIET_FRAMES = 3
/** If the entries keep moving, the jump ends after this many. */
const MOST_FRAMES = 40
const TAKES_OVER = ['wheel', 'pointerdown', 'keydown', 'focusin']

/**
 * The target of a jump is kept visible until the user scrolls: entries near it get their height late, more events are
 * loaded around it, colors and pictures appear later.
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

/** How far the mark extends beyond it. */
const MARK_PX = 12

/** Scrolls it to the middle; if it is taller than the log, to its beginning. Only the log is scrolled. */
function bringIntoSight(log: HTMLElement): void {
  const entry = log.querySelector<HTMLElement>('.focused')
  if (entry === null) return
  const room = Math.max(MARK_PX, (log.clientHeight - entry.offsetHeight) / 2)
  log.scrollTop = entry.offsetTop - log.offsetTop - room
}
