// Shows a page of its own while the service cannot be reached. It answers nothing else, so nothing old is ever shown for new.

const KEPT = 'offline-2'
const FILES = ['/offline', '/offline.css', '/offline.js', '/favicon.svg']

self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(FILES)))
})

self.addEventListener('activate', (event) => {
  const others = async () => {
    const names = await caches.keys()
    await Promise.all(names.filter((name) => name !== KEPT).map((name) => caches.delete(name)))
  }
  event.waitUntil(others())
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const isOfOffline = FILES.includes(new URL(request.url).pathname)
  if (request.mode !== 'navigate' && !isOfOffline) return
  const kept = isOfOffline ? request : '/offline'
  event.respondWith(
    fetch(request).catch(async (error) => {
      const found = await caches.match(kept)
      if (found === undefined) throw error
      return found
    }),
  )
})
