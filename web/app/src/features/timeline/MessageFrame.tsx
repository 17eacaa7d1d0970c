import type { ReactNode } from 'react'

import { t } from '../../language/words.ts'
import { Avatar, hueOf } from '../../ui/Avatar.tsx'
import { TYPES } from '../spaces/roles.ts'

interface Props {
  sender: { id: string; name: string; type: 'human' | 'agent' | 'service' }
  first: boolean
  aside?: ReactNode
  children: ReactNode
  className?: string
  actions?: ReactNode
  gutter?: ReactNode
}

/**
 * A message with its sender's avatar. The first message of a group shows the name. It takes the focus on touch, which
 * shows its actions. With a mouse, the actions have a column of their own, so that they cover no text.
 */
export function MessageFrame({ sender, first, aside, children, className = '', actions, gutter }: Props) {
  return (
    <article tabIndex={-1} aria-label={sender.type === 'human' ? sender.name : sender.type === 'agent' ? t('{name}, agent', { name: sender.name }) : t('{name}, service', { name: sender.name })} className={`group relative -mx-2 flex flex-wrap gap-x-3 rounded-md px-2 py-0.5 hover:bg-paper-low/60 pointer-fine:flex-nowrap ${first ? 'mt-3.5' : ''} ${className}`}>
      <div className="relative w-9 shrink-0 pt-0.5">
        {first ? <Avatar id={sender.id} name={sender.name} type={sender.type} /> : <span className="absolute end-0 top-0.5 whitespace-nowrap opacity-0 group-hover:opacity-100">{gutter}</span>}
      </div>
      <div className="min-w-0 flex-1">
        {first && (
          <header className="flex items-baseline gap-2 leading-snug">
            <bdi style={sender.type === 'agent' ? hueOf(sender.id) : undefined} className={`truncate font-semibold ${sender.type === 'agent' ? 'agent-name' : ''}`}>{sender.name}</bdi>
            {sender.type !== 'human' && <span className="rounded-sm bg-hover px-1.5 text-tiny text-ink-soft">{t(TYPES[sender.type])}</span>}
            {aside}
          </header>
        )}
        {children}
      </div>
      {actions}
    </article>
  )
}
