// What is written and stored nowhere yet. Whoever looks at another page meanwhile, or loads this one anew, finds it again; only
// the end of the tab takes it away.

import { useState } from 'preact/hooks'

const STORED_AS = 'bellwether.unsaved '
const FILE = 'file '

/** By the name of its place. */
const kept = new Map<string, unknown>()

/** As `useState`, but what is set is found again under the name of its place. What is `empty` is not kept. */
export function useUnsaved<T>(place: string, empty: T): [T, (next: T | ((before: T) => T)) => void] {
  const [, draw] = useState(0)
  const now = (): T => (kept.has(place) ? (kept.get(place) as T) : empty)
  const set = (next: T | ((before: T) => T)) => {
    const value = typeof next === 'function' ? (next as (before: T) => T)(now()) : next
    if (value === empty) kept.delete(place)
    else kept.set(place, value)
    draw((count) => count + 1)
  }
  return [now(), set]
}

export const placeOfFile = (id: string, path: string): string => `${FILE}${id} ${path}`

/** Of somebody who signs out. */
export const forgetUnsaved = (): void => kept.clear()

/** To be called before the first page is drawn. */
export function keepUnsaved(): void {
  takeUp()
  addEventListener('pagehide', lay)
  // Whoever closes the tab is asked, as long as an edit of a file is stored nowhere.
  addEventListener('beforeunload', (event) => {
    if ([...kept.keys()].some((place) => place.startsWith(FILE))) event.preventDefault()
  })
}

function takeUp(): void {
  try {
    for (const name of Object.keys(sessionStorage).filter((one) => one.startsWith(STORED_AS))) {
      kept.set(name.slice(STORED_AS.length), JSON.parse(sessionStorage.getItem(name) ?? 'null'))
      sessionStorage.removeItem(name)
    }
  } catch (error) {
    // A browser that keeps nothing for pages: then there is nothing to take up.
    if (!(error instanceof DOMException)) throw error
  }
}

function lay(): void {
  for (const [place, value] of kept) {
    try {
      sessionStorage.setItem(`${STORED_AS}${place}`, JSON.stringify(value))
    } catch (error) {
      // Too large, or closed to pages. What is smaller may have its place all the same.
      if (!(error instanceof DOMException)) throw error
    }
  }
}
