/** The time zone in which times are shown: what the person chose, otherwise that of the computer. */
import { useSyncExternalStore } from 'react'

import { loadItem, onOtherTab, removeItem, saveItem } from './storage.ts'

const KEY = 'majlis.time-zone'
const listeners = new Set<() => void>()

/** null: as on the computer. */
export const chosenTimeZone = (): string | null => loadItem(KEY)

let shown = known(chosenTimeZone())

/** The choice as far as this browser knows it; servers and browsers have different lists. */
export const timeZone = (): string | undefined => shown
export const useTimeZone = (): string | undefined => useSyncExternalStore(subscribe, timeZone)

export function keepTimeZone(chosen: string | null): void {
  if (chosen === null) removeItem(KEY)
  else saveItem(KEY, chosen)
  show()
}

function show(): void {
  shown = known(chosenTimeZone())
  listeners.forEach((each) => each())
}

function known(name: string | null): string | undefined {
  if (name === null) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  const end = onOtherTab(KEY, show)
  return () => {
    listeners.delete(listener)
    end()
  }
}
