/** Which choices of the person are only in this browser so far. Stored, so that they are sent after a reload, too. */
import type { Preferences } from '@majlis/client'

import { loadItem, removeItem, saveItem } from '../../ui/storage.ts'

export type Choices = Omit<Preferences, 'revision'>
type Name = keyof Choices

const listeners = new Set<() => void>()
let me: string | null = null

export function openUnsent(person: string): void {
  me = person
}

/** Calls back when there is something to send. Returns a function that ends this. */
export function onUnsent(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function noteChange(...names: Name[]): void {
  if (names.length === 0) return
  save(new Set([...unsent(), ...names]))
  listeners.forEach((each) => each())
}

export function noteSent(names: readonly Name[]): void {
  save(new Set([...unsent()].filter((each) => !names.includes(each))))
}

export function unsent(): Set<Name> {
  const saved = me === null ? null : loadItem(keyOf(me))
  return new Set(saved ? (saved.split(' ') as Name[]) : [])
}

function save(names: ReadonlySet<Name>): void {
  if (me === null) return
  if (names.size > 0) saveItem(keyOf(me), [...names].join(' '))
  else removeItem(keyOf(me))
}

const keyOf = (person: string): string => `majlis.unsent-preferences.${person}`
