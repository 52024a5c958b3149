/** Closes a socket after it has opened: closing it earlier logs an error in the browser's console. */
export function closeQuietly(socket: WebSocket, code?: number): void {
  if (socket.readyState === WebSocket.CONNECTING) {
    socket.addEventListener('open', () => socket.close(code), { once: true })
  } else socket.close(code)
}
