import { usePicture, useStore } from '@majlis/client/react'
import { useState, type CSSProperties } from 'react'

type Kind = 'human' | 'agent' | 'service'

const SIZES = { small: 'size-6 text-tiny', medium: 'size-9 text-small', large: 'size-16 text-title' }
const SHAPES: Record<Kind, string> = { human: 'rounded-full', agent: 'rounded-md', service: 'rounded-sm' }
const TINTS = ['bg-tint-1', 'bg-tint-2', 'bg-tint-3', 'bg-tint-4', 'bg-tint-5']

interface Props {
  id: string
  name: string
  type: Kind
  size?: keyof typeof SIZES
  /** For members who share no space with the user. */
  picture?: string | null
}

/** People are round and agents are square, so that shape tells them apart as well as color. */
export function Avatar({ id, name, type, size = 'medium', picture }: Props) {
  const { client } = useStore()
  const known = usePicture(id)
  const [broken, setBroken] = useState<string | null>(null)
  const shown = known ?? (picture ? client.pictureUrl(picture) : null)
  if (shown && shown !== broken) return <img src={shown} alt="" decoding="async" draggable={false} className={`shrink-0 bg-hover object-cover select-none ${SIZES[size]} ${SHAPES[type]}`} onError={() => setBroken(shown)} />
  const look = type === 'agent' ? 'agent-face' : type === 'service' ? 'bg-hover' : tint(id)
  return (
    <span aria-hidden style={type === 'agent' ? hueOf(id) : undefined} className={`grid shrink-0 place-items-center font-sans font-semibold select-none ${SIZES[size]} ${SHAPES[type]} ${look}`}>
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
