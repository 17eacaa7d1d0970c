/** Times as people say them, in their own language. */
import { useSyncExternalStore } from 'react'

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric' })
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' })
const short = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

const DAY = 86_400_000

export const timeOf = (iso: string): string => clock.format(new Date(iso))
export const fullTime = (iso: string): string => full.format(new Date(iso))
export const dayKey = (iso: string): string => new Date(iso).toDateString()

export function dayName(iso: string, now = Date.now()): string {
  const date = new Date(iso)
  if (date.toDateString() === new Date(now).toDateString()) return 'Today'
  if (date.toDateString() === new Date(now - DAY).toDateString()) return 'Yesterday'
  return now - date.getTime() < 300 * DAY ? day.format(date) : dayAndYear.format(date)
}

/** The time for today, the day for everything before. */
export function brief(iso: string, now = Date.now()): string {
  const date = new Date(iso)
  return date.toDateString() === new Date(now).toDateString() ? clock.format(date) : short.format(date)
}

/** "8 s", "3 min", "2 h". */
export function lasting(millis: number): string {
  const seconds = Math.max(0, Math.round(millis / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

/** As exact as somebody wants to know it: "12 ms", "3.4 s", "2 min". */
export const spanOf = (millis: number): string => (millis < 1000 ? `${Math.max(0, Math.round(millis))} ms` : millis < 10_000 ? `${(millis / 1000).toFixed(1)} s` : lasting(millis))

const LOOK_MS = 20_000

/** Which day it is; whoever shows days in words is told when it is over. */
export function useToday(): string {
  return useSyncExternalStore(untilTomorrow, () => new Date().toDateString())
}

function untilTomorrow(listener: () => void): () => void {
  const timer = setInterval(listener, LOOK_MS)
  return () => clearInterval(timer)
}

let ticking: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

/** One clock for all who show how long something lasts; it stands still while nobody looks. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / 1000) * 1000)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  ticking ??= setInterval(() => listeners.forEach((each) => each()), 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(ticking)
    ticking = undefined
  }
}
