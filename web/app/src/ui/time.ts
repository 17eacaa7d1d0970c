/** Dates and durations in the reader's language. */
import { useSyncExternalStore } from 'react'

import { byLocale } from '../language/language.ts'
import { t } from '../language/words.ts'
import { oneDecimal } from './format.ts'

const clock = byLocale((locale) => new Intl.DateTimeFormat(locale, { timeStyle: 'short' }))
const day = byLocale((locale) => new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' }))
const dayAndYear = byLocale((locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', year: 'numeric' }))
const full = byLocale((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium' }))
const inUtc = byLocale((locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }))
const short = byLocale((locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' }))

const DAY = 86_400_000

export const timeOf = (iso: string): string => clock().format(new Date(iso))
export const fullTime = (iso: string): string => full().format(new Date(iso))
/** The name of a day of the server, such as 2026-11-16. */
export const utcDay = (day: string): string => inUtc().format(new Date(day))
export const dayKey = (iso: string): string => new Date(iso).toDateString()

export function dayName(iso: string, now = Date.now()): string {
  const date = new Date(iso)
  if (date.toDateString() === new Date(now).toDateString()) return t('Today')
  if (date.toDateString() === new Date(now - DAY).toDateString()) return t('Yesterday')
  return now - date.getTime() < 300 * DAY ? day().format(date) : dayAndYear().format(date)
}

/** The time if it is today, otherwise the date. */
export function brief(iso: string, now = Date.now()): string {
  const date = new Date(iso)
  return date.toDateString() === new Date(now).toDateString() ? clock().format(date) : short().format(date)
}

const relative = byLocale((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))

/** "5 minutes ago", "yesterday", "3 weeks ago". */
export function ago(iso: string, now = Date.now()): string {
  const minutes = Math.max(0, Math.round((now - Date.parse(iso)) / 60_000))
  if (minutes < 60) return relative().format(-minutes, 'minute')
  if (minutes < 24 * 60) return relative().format(-Math.round(minutes / 60), 'hour')
  const days = Math.round(minutes / (24 * 60))
  return days < 14 ? relative().format(-days, 'day') : relative().format(-Math.round(days / 7), 'week')
}

/** "8 s", "3 min", "2 h". */
export function duration(millis: number): string {
  const seconds = Math.max(0, Math.round(millis / 1000))
  if (seconds < 60) return t('{n} s', { n: seconds })
  if (seconds < 3600) return t('{n} min', { n: Math.floor(seconds / 60) })
  return t('{hours} h {minutes} min', { hours: Math.floor(seconds / 3600), minutes: Math.floor((seconds % 3600) / 60) })
}

/** Like `duration`, but precise below 10 s: "12 ms", "3.4 s", "2 min". */
export const preciseDuration = (millis: number): string => (millis < 1000 ? t('{n} ms', { n: Math.max(0, Math.round(millis)) }) : millis < 10_000 ? t('{n} s', { n: oneDecimal(millis / 1000) }) : duration(millis))

const DAY_CHECK_MS = 20_000

/** The current day. Renders again at midnight, so that "Today" becomes "Yesterday". */
export function useToday(): string {
  return useSyncExternalStore(checkDay, () => new Date().toDateString())
}

function checkDay(listener: () => void): () => void {
  const check = setInterval(listener, DAY_CHECK_MS)
  return () => clearInterval(check)
}

let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

/** The current second. All users share one timer, which stops when there are none. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / 1000) * 1000)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => listeners.forEach((each) => each()), 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
