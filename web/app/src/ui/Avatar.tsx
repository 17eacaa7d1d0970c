import type { CSSProperties } from 'react'

type Kind = 'human' | 'agent' | 'service'

const SIZES = { small: 'size-6 text-tiny', medium: 'size-9 text-small' }
const TINTS = ['bg-tint-1', 'bg-tint-2', 'bg-tint-3', 'bg-tint-4', 'bg-tint-5']

/** People are round and agents are square, so that shape tells them apart as well as color. */
export function Avatar({ id, name, type, size = 'medium' }: { id: string; name: string; type: Kind; size?: keyof typeof SIZES }) {
  const look = type === 'agent' ? 'rounded-md agent-face' : type === 'service' ? 'rounded-sm bg-hover' : `rounded-full ${tint(id)}`
  return (
    <span aria-hidden style={type === 'agent' ? hueOf(id) : undefined} className={`grid shrink-0 place-items-center font-sans font-semibold select-none ${SIZES[size]} ${look}`}>
      {type === 'agent' ? <Spark letter={initial(name)} /> : initial(name)}
    </span>
  )
}

function Spark({ letter }: { letter: string }) {
  return (
    <span className="relative">
      {letter}
      <svg viewBox="0 0 8 8" className="absolute -end-2 -top-0.5 size-2 fill-current"><path d="M4 0 5 3l3 1-3 1-1 3-1-3-3-1 3-1z" /></svg>
    </span>
  )
}

const initial = (name: string): string => [...name.trim()][0]?.toLocaleUpperCase() ?? '?'

const tint = (id: string): string => TINTS[sum(id) % TINTS.length] ?? ''

/** One of 15 hues, far enough apart to be told from each other. Sets the variable that `agent-face` and `agent-name` use. */
export const hueOf = (id: string): CSSProperties => ({ '--hue': String(((sum(id) % 15) * 24 + 160) % 360) }) as CSSProperties

/** Spread well even for ids that differ in one letter (FNV-1a, then its upper half). */
const sum = (id: string): number => [...id].reduce((all, letter) => Math.imul(all ^ letter.charCodeAt(0), 16777619), 0x811c9dc5) >>> 16
