import { timeOfDay } from '../../ui/time.ts'

/** Hours without notifications, in the time zone that is shown. They may span midnight. */
export interface QuietHours {
  /** As "22:00". */
  from: string
  to: string
}

export function isQuiet(hours: QuietHours | null, now: Date): boolean {
  if (!hours || hours.from === hours.to) return false
  const time = timeOfDay(now)
  const [after, before] = [time >= hours.from, time < hours.to]
  return hours.from < hours.to ? after && before : after || before
}
