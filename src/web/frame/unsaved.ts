// Text that is not saved yet. It is still there after a visit to another page or a reload; only closing the tab removes
// it.

import { useState } from 'preact/hooks'

const STORED_AS = 'bellwether.unsaved '
const FILE = 'file '

/** By the name of the field. */
const kept = new Map<string, unknown>()

/** Like `useState`, but the value is kept under the given name. A value equal to `empty` is not kept. */
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

/** On sign-out. */
export const forgetUnsaved = (): void => kept.clear()

/** Must be called before the first page is rendered. */
export function keepUnsaved(): void {
  takeUp()
  addEventListener('pagehide', lay)
  // Closing the tab asks for confirmation while an edit of a file is not saved.
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
    // The browser stores nothing for pages, so there is nothing to restore.
    if (!(error instanceof DOMException)) throw error
  }
}

function lay(): void {
  for (const [place, value] of kept) {
    try {
      sessionStorage.setItem(`${STORED_AS}${place}`, JSON.stringify(value))
    } catch (error) {
      // Too large, or storage is disabled. Smaller values may still fit.
      if (!(error instanceof DOMException)) throw error
    }
  }
}
