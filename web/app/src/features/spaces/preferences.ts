/** How a person wants to see their spaces. Kept in this browser, per person. */
import { useSyncExternalStore } from 'react'

import { loadItem, saveItem } from '../../ui/storage.ts'

export type Notify = 'all' | 'mentions' | 'none'

export interface Preferences {
  pinned: readonly string[]
  muted: readonly string[]
  notify: Readonly<Record<string, Notify>>
}

const NONE: Preferences = { pinned: [], muted: [], notify: {} }
const listeners = new Set<() => void>()
let known: { me: string; value: Preferences } | null = null

export function preferencesOf(me: string): Preferences {
  if (known?.me !== me) known = { me, value: load(me) }
  return known.value
}

export function changePreferences(me: string, change: (before: Preferences) => Preferences): void {
  known = { me, value: change(preferencesOf(me)) }
  saveItem(keyOf(me), JSON.stringify(known.value))
  listeners.forEach((each) => each())
}

export const usePreferences = (me: string): Preferences => useSyncExternalStore(subscribe, () => preferencesOf(me))

export const toggled = (list: readonly string[], id: string): string[] => (list.includes(id) ? list.filter((each) => each !== id) : [...list, id])

const keyOf = (me: string): string => `majlis.spaces.${me}`

function load(me: string): Preferences {
  try {
    return { ...NONE, ...(JSON.parse(loadItem(keyOf(me)) ?? '{}') as Partial<Preferences>) }
  } catch {
    return NONE
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
