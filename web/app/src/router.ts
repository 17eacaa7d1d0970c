/** Reads and writes the address. The browser history is the only store. */
import { useMemo, useSyncExternalStore } from 'react'

import { placeOf, type Inspect, type Place } from './paths.ts'

export { messagePath, placeOf, spacePath, type Inspect, type Place } from './paths.ts'

const NAVIGATED = 'majlis-navigated'

export function usePlace(): Place {
  const path = useSyncExternalStore(subscribe, () => location.pathname)
  return useMemo(() => placeOf(path), [path])
}

/** The content of the inspector; null while it is closed. */
export function useInspect(): Inspect | null {
  const search = useSyncExternalStore(subscribe, () => location.search)
  return useMemo(() => inspectOf(new URLSearchParams(search).get('inspect')), [search])
}

/** With the origin, for other programs. */
export const addressOf = (path: string): string => location.origin + path

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
