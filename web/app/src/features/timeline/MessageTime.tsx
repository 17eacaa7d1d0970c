import { fullTime, timeOf } from '../../ui/time.ts'

export function MessageTime({ at }: { at: string }) {
  return <time dateTime={at} title={fullTime(at)} className="shrink-0 text-tiny text-ink-soft tabular-nums">{timeOf(at)}</time>
}
