// Four pages need no library: a path, and a link that does not reload.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { nameWindow } from './frame/attention.ts'

export function navigate(path: string): void {
  if (path === location.pathname + location.search) return
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

/** Names the page in the window's title. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    nameWindow(title)
  }, [title])
}
