// Where in a request a key may stand. The front of `npm start` reads this too, to tell callers apart, so nothing is imported here.

export const SESSION_COOKIE = 'bellwether_session'

/** The sockets and streams that a browser opens without headers: no other path accepts a key in the query. */
const STREAM_PATH = /^\/(api\/conversations\/[^/]+\/(ws|terminal)|socket\.io\/?|api\/v1\/analysis\/tasks\/stream)$/

/** What a header `Authorization` shows, or null. */
export function bearerIn(authorization: string | null): string | null {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? null
}

/** Clients of the reference send the words null and undefined for none. */
export function queryKeyIn(method: string, url: URL): string | null {
  if (method !== 'GET' || !STREAM_PATH.test(url.pathname)) return null
  const key = url.searchParams.get('session_api_key')
  return key === null || key === '' || key === 'null' || key === 'undefined' ? null : key
}

export function cookieIn(cookie: string | null, name: string): string | null {
  return new RegExp(`(?:^|; *)${name}=([^;]*)`).exec(cookie ?? '')?.[1] ?? null
}
