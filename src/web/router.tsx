// Four pages need no library: a path, and a link that does not reload.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { nameWindow } from './frame/attention.ts'
import { noteScroll } from './frame/scroll.ts'

export function navigate(path: string): void {
  if (path === location.pathname + location.search) return
  noteScroll()
  history.pushState(null, '', path)
  dispatchEvent(new PopStateEvent('popstate'))
  scrollTo(0, 0)
}

export function usePath(): string {
  const [path, setPath] = useState(location.pathname)
  useEffect(() => {
    const follow = () => setPath(location.pathname)
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  return path
}

/**
 * The choices on a page, kept in the URL under these names: links, back and forward restore them. A value equal to
 * `first` is left out of the URL, and a value that is not in `allowed` counts as `first`.
 */
export function useChosen<Name extends string>(
  first: Readonly<Record<Name, string>>,
  allowed?: Readonly<Partial<Record<Name, readonly string[]>>>,
) {
  const names = Object.keys(first) as Name[]
  const read = () => {
    const query = new URLSearchParams(location.search)
    const known = (name: Name, value: string) => allowed?.[name]?.includes(value) ?? true
    const values = names.map((name) => [name, query.get(name) ?? first[name]] as const)
    return Object.fromEntries(
      values.map(([name, value]) => [name, known(name, value) ? value : first[name]]),
    ) as Record<Name, string>
  }
  const [chosen, setChosen] = useState(read)
  useEffect(() => {
    const { pathname } = location
    const follow = () => location.pathname === pathname && setChosen(read())
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  /** With `replace` the current URL is corrected; otherwise back restores the previous choice. */
  const choose = (part: Partial<Record<Name, string>>, way: 'push' | 'replace' = 'push') => {
    const query = new URLSearchParams(location.search)
    const now = read()
    // Always in the same order, so that the same choice has the same URL.
    for (const name of names) query.delete(name)
    for (const name of names) {
      const value = part[name] ?? now[name]
      if (value !== first[name]) query.set(name, value)
    }
    const search = query.size === 0 ? '' : `?${query}`
    if (search === location.search) return
    if (way === 'push') {
      noteScroll()
      history.pushState(null, '', location.pathname + search)
    } else history.replaceState(history.state, '', location.pathname + search)
    dispatchEvent(new PopStateEvent('popstate'))
  }
  return [chosen, choose] as const
}

type LinkProps = { to: string; class?: string; current?: boolean; children: ComponentChildren }

export function Link({ to, current = false, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a href={to} class={rest.class ?? ''} aria-current={current ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  )
}

/** Sets the title of the window. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    nameWindow(title)
  }, [title])
}
