// The remotes of the configuration, and their URLs.

import { GitFailure } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { localPath, parseAddress } from './remote-address.ts'

export async function remoteNames(git: Invocation): Promise<string[]> {
  const keys = (await git.repo().config()).settings.map(({ key }) => /^remote\.(.*)\.(?:url|fetch)$/.exec(key)?.[1])
  return [...new Set(keys.filter((name) => name !== undefined))].sort()
}

/** The URLs of a remote, the one for fetching first. */
export async function urlsOf(git: Invocation, name: string, use: 'fetch' | 'push'): Promise<string[]> {
  const config = await git.repo().config()
  const urls = config.getAll(`remote.${name}.url`)
  if (urls.length === 0) throw new GitFailure(`error: No such remote '${name}'`, 2)
  const pushUrls = use === 'push' ? config.getAll(`remote.${name}.pushurl`) : []
  // The configuration may come from anyone: secrets in URLs must not be shown.
  return (pushUrls.length > 0 ? pushUrls : urls).map((url) => url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1'))
}

/** The default remote. */
export async function usualRemote(git: Invocation): Promise<string> {
  const names = await remoteNames(git)
  return names.length === 1 ? (names[0] ?? 'origin') : 'origin'
}

/** The URL of a named remote, or the given URL itself. */
export async function addressOf(
  git: Invocation,
  given: string,
  use: 'fetch' | 'push',
): Promise<{ remote: string; url: string }> {
  const config = await git.repo().config()
  const [url] = [
    ...(use === 'push' ? config.getAll(`remote.${given}.pushurl`) : []),
    ...config.getAll(`remote.${given}.url`),
  ]
  if (url !== undefined) return { remote: given, url }
  if (localPath(given) === null) parseAddress(given)
  return { remote: '', url: given }
}
