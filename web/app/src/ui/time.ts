/** Dates and durations in the reader's language. */
import { useSyncExternalStore } from 'react'

import { byLocale } from '../language/language.ts'
import { t } from '../language/words.ts'
import { oneDecimal } from './format.ts'
import { timeZone } from './timeZone.ts'

const clock = inZone({ timeStyle: 'short' })
const day = inZone({ weekday: 'long', day: 'numeric', month: 'long' })
const dayAndYear = inZone({ day: 'numeric', month: 'long', year: 'numeric' })
const full = inZone({ dateStyle: 'full', timeStyle: 'medium' })
const short = inZone({ day: 'numeric', month: 'short' })
const inUtc = byLocale((locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }))
const date = inZone({ year: 'numeric', month: '2-digit', day: '2-digit' }, 'sv')
const hours = inZone({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }, 'sv')

const DAY = 86_400_000

export const timeOf = (iso: string): string => clock().format(new Date(iso))
export const fullTime = (iso: string): string => full().format(new Date(iso))
/** The name of a day of the server, such as 2026-11-16. */
export const utcDay = (day: string): string => inUtc().format(new Date(day))
/** As "2026-11-16", in the zone that is shown. */
export const dayKey = (when: string | number): string => date().format(new Date(when))
/** The date before one such as 2026-11-16. Days have 23 to 25 hours. */
const dayBefore = (key: string): string => new Date(Date.parse(key) - DAY).toISOString().slice(0, 10)
/** As "22:00", in the zone that is shown. */
export const timeOfDay = (when: Date): string => hours().format(when)

export function dayName(iso: string, now = Date.now()): string {
  const then = new Date(iso)
  if (dayKey(iso) === dayKey(now)) return t('Today')
  if (dayKey(iso) === dayBefore(dayKey(now))) return t('Yesterday')
  return now - then.getTime() < 300 * DAY ? day().format(then) : dayAndYear().format(then)
}

/** The time if it is today, otherwise the date. */
export function brief(iso: string, now = Date.now()): string {
  return dayKey(iso) === dayKey(now) ? clock().format(new Date(iso)) : short().format(new Date(iso))
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
  return useSyncExternalStore(checkDay, () => dayKey(Date.now()))
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

/** A formatter for the language and the time zone that are shown now. */
function inZone(options: Intl.DateTimeFormatOptions, always?: string): () => Intl.DateTimeFormat {
  let made: { zone: string | undefined; formatter: () => Intl.DateTimeFormat } | null = null
  return () => {
    const zone = timeZone()
    if (made?.zone !== zone || !made) made = { zone, formatter: byLocale((locale) => new Intl.DateTimeFormat(always ?? locale, { ...options, ...(zone && { timeZone: zone }) })) }
    return made.formatter()
  }
}
