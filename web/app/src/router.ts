/** Reads and writes the address. The browser history is the only store. */
import { useMemo, useSyncExternalStore } from 'react'

export type Inspect = { kind: 'members' } | { kind: 'runs' } | { kind: 'settings' } | { kind: 'run'; id: string } | { kind: 'agent'; id: string }

export type Place =
  | { page: 'home' }
  | { page: 'space'; spaceId: string; messageId: string | null }
  | { page: 'admin'; section: string; id: string | null }

const NAVIGATED = 'majlis-navigated'

export function placeOf(path: string): Place {
  const [first, second, third, fourth] = path.split('/').filter(Boolean).map(decoded)
  if (first === 'spaces' && second) {
    return { page: 'space', spaceId: second, messageId: third === 'messages' && fourth ? fourth : null }
  }
  if (first === 'admin') return { page: 'admin', section: second ?? 'people', id: third ?? null }
  return { page: 'home' }
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
  if (how === 'push') history.pushState(null, '', path)
  else history.replaceState(null, '', path)
  dispatchEvent(new Event(NAVIGATED))
}

export function inspect(what: Inspect | null): void {
  const wanted = what === null ? '' : `?inspect=${what.kind === 'run' || what.kind === 'agent' ? what.id : what.kind}`
  go(location.pathname + wanted)
}

function inspectOf(value: string | null): Inspect | null {
  if (value === 'members' || value === 'runs' || value === 'settings') return { kind: value }
  if (value?.startsWith('run_')) return { kind: 'run', id: value }
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
