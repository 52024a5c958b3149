// Where a request may contain a key. The proxy of `npm start` imports this, too, to tell callers apart, so this file
// imports nothing.

export const SESSION_COOKIE = 'bellwether_session'

/** Sockets and streams that a browser opens without headers: no other path accepts a key in the query. */
const STREAM_PATH = /^\/(api\/conversations\/[^/]+\/(ws|terminal)|socket\.io\/?|api\/v1\/analysis\/tasks\/stream)$/

/** The token of an `Authorization` header, or null. */
export function bearerIn(authorization: string | null): string | null {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? null
}

/** Clients of the reference send the words null and undefined when they have no key. */
export function queryKeyIn(method: string, url: URL): string | null {
  if (method !== 'GET' || !STREAM_PATH.test(url.pathname)) return null
  const key = url.searchParams.get('session_api_key')
  return key === null || key === '' || key === 'null' || key === 'undefined' ? null : key
}

export function cookieIn(cookie: string | null, name: string): string | null {
  return new RegExp(`(?:^|; *)${name}=([^;]*)`).exec(cookie ?? '')?.[1] ?? null
}
