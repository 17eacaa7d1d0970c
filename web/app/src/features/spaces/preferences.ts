/** How a person wants to see their spaces. The server has it too; this is the browser's copy, per person. */
import { useSyncExternalStore } from 'react'

import { loadItem, saveItem } from '../../ui/storage.ts'
import type { QuietHours } from '../notifications/quiet.ts'
import { noteChange } from '../profile/unsent.ts'

export type Notify = 'all' | 'mentions' | 'decisions' | 'none'

/** By the newest message, or a stable order by name. */
export type Order = 'newest' | 'name'

export interface Preferences {
  pinned: readonly string[]
  muted: readonly string[]
  /** At the bottom of the sidebar, folded, and never counted or notified of. */
  archived: readonly string[]
  order: Order
  notify: Readonly<Record<string, Notify>>
  sound: boolean
  quiet: QuietHours | null
}

const NONE: Preferences = { pinned: [], muted: [], archived: [], order: 'newest', notify: {}, sound: false, quiet: null }
const NAMES = Object.keys(NONE) as (keyof Preferences)[]
const listeners = new Set<() => void>()
let known: { me: string; value: Preferences } | null = null

export function preferencesOf(me: string): Preferences {
  if (known?.me !== me) known = { me, value: load(me) }
  return known.value
}

export function changePreferences(me: string, change: (before: Preferences) => Preferences): void {
  const before = preferencesOf(me)
  const after = change(before)
  keep(me, after)
  noteChange(...NAMES.filter((name) => after[name] !== before[name]))
}

/** Takes over choices from another browser. */
export function adoptPreferences(me: string, part: Partial<Preferences>): void {
  keep(me, { ...preferencesOf(me), ...part })
}

function keep(me: string, value: Preferences): void {
  known = { me, value }
  saveItem(keyOf(me), JSON.stringify(value))
  listeners.forEach((each) => each())
}

export const usePreferences = (me: string): Preferences => useSyncExternalStore(subscribe, () => preferencesOf(me))

export const isSilent = ({ muted, archived }: Preferences, spaceId: string): boolean => muted.includes(spaceId) || archived.includes(spaceId)

export const toggled = (list: readonly string[], id: string): string[] => (list.includes(id) ? list.filter((each) => each !== id) : [...list, id])

const keyOf = (me: string): string => `majlis.spaces.${me}`

function load(me: string): Preferences {
  try {
    return { ...NONE, ...(JSON.parse(loadItem(keyOf(me)) ?? '{}') as Partial<Preferences>) }
  } catch {
    return NONE
  }
}

// Another tab has changed them.
addEventListener('storage', ({ key }) => {
  if (!known || (key !== null && key !== keyOf(known.me))) return
  known = null
  listeners.forEach((each) => each())
})

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
