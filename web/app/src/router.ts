/** Reads and writes the address. The browser history is the only store. */
import { useMemo, useSyncExternalStore } from 'react'

export type Inspect = { kind: 'members' } | { kind: 'runs' } | { kind: 'files' } | { kind: 'pins' } | { kind: 'settings' } | { kind: 'run'; id: string } | { kind: 'agent'; id: string } | { kind: 'thread'; id: string }

export type Place =
  | { page: 'home' }
  | { page: 'space'; spaceId: string; messageId: string | null }
  | { page: 'admin'; section: string; id: string | null }
  | { page: 'unknown' }

const NAVIGATED = 'majlis-navigated'

export function placeOf(path: string): Place {
  const [first, second, third, fourth] = path.split('/').filter(Boolean).map(decoded)
  if (first === 'spaces' && second) {
    return { page: 'space', spaceId: second, messageId: third === 'messages' && fourth ? fourth : null }
  }
  if (first === 'admin') return { page: 'admin', section: second ?? 'people', id: third ?? null }
  return first ? { page: 'unknown' } : { page: 'home' }
}

/** A malformed address stays as it is and leads to a space that does not exist. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function usePlace(): Place {
  const path = useSyncExternalStore(subscribe, () => location.pathname)
  return useMemo(() => placeOf(path), [path])
}

/** The content of the inspector; null while it is closed. */
export function useInspect(): Inspect | null {
  const search = useSyncExternalStore(subscribe, () => location.search)
  return useMemo(() => inspectOf(new URLSearchParams(search).get('inspect')), [search])
}

export const spacePath = (id: string): string => `/spaces/${id}`
export const messagePath = (spaceId: string, id: string): string => `/spaces/${spaceId}/messages/${id}`

export function go(path: string, how: 'push' | 'replace' = 'push'): void {
  if (path === location.pathname + location.search) return
  if (guard && path.split('?')[0] !== location.pathname) return guard(() => leave(path, how))
  leave(path, how)
}

type Guard = (proceed: () => void) => void
let guard: Guard | null = null
let guarded = ''

/** Asks `ask` before the app leaves the current page. Returns a function that ends this. */
export function guardLeaving(ask: Guard): () => void {
  guard = ask
  guarded = location.pathname + location.search
  return () => {
    if (guard === ask) guard = null
  }
}

// Registered before the listeners of the views. The browser has already gone back: return, and go there if the user agrees.
addEventListener('popstate', (event) => {
  if (!guard) return
  const target = location.pathname + location.search
  event.stopImmediatePropagation()
  history.pushState(null, '', guarded)
  guard(() => leave(target, 'push'))
})

function leave(path: string, how: 'push' | 'replace'): void {
  guard = null
  if (how === 'push') history.pushState(null, '', path)
  else history.replaceState(null, '', path)
  dispatchEvent(new Event(NAVIGATED))
}

export function inspect(what: Inspect | null): void {
  const wanted = what === null ? '' : `?inspect=${'id' in what ? what.id : what.kind}`
  go(location.pathname + wanted)
}

function inspectOf(value: string | null): Inspect | null {
  if (value === 'members' || value === 'runs' || value === 'files' || value === 'pins' || value === 'settings') return { kind: value }
  if (value?.startsWith('run_')) return { kind: 'run', id: value }
  if (value?.startsWith('msg_')) return { kind: 'thread', id: value }
  if (value?.startsWith('ent_')) return { kind: 'agent', id: value }
  return null
}

function subscribe(listener: () => void): () => void {
  addEventListener('popstate', listener)
  addEventListener(NAVIGATED, listener)
  return () => {
    removeEventListener('popstate', listener)
    removeEventListener(NAVIGATED, listener)
  }
}
