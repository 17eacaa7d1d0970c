import type { Message } from '@majlis/client'
import { useMajlis, useMe, useStore } from '@majlis/client/react'

import { count as figure, t } from '../../language/words.ts'
import { useMayWrite } from '../spaces/useMayWrite.ts'
import { toast } from '../../ui/toast.tsx'

/** The reactions below a message. A click adds or removes your own; the title says who reacted. */
export function Reactions({ message }: { message: Message }) {
  const { client } = useStore()
  const me = useMe()
  const mayWrite = useMayWrite(message.spaceId)
  const members = useMajlis((state) => state.spaces[message.spaceId]?.members)
  if (!message.reactions?.length) return null
  const nameOf = (id: string) => members?.find((member) => member.id === id)?.name ?? t('A former member')
  return (
    <ul aria-label={t('Reactions')} className="mt-1 flex flex-wrap gap-1">
      {message.reactions.map(({ emoji, count, entityIds }) => {
        const mine = me !== null && me !== undefined && entityIds.includes(me.id)
        const change = () => (mine ? client.messages.unreact(message.id, emoji) : client.messages.react(message.id, emoji))
        return (
          <li key={emoji}>
            <button
              type="button"
              disabled={!mayWrite}
              aria-pressed={mine}
              aria-label={`${emoji} ${figure(count)}`}
              title={entityIds.map(nameOf).join(t(', '))}
              className={`rounded-full border px-2 py-0.5 text-small tabular-nums ${mine ? 'border-link bg-hover' : 'border-line'}`}
              onClick={() => void change().catch((error: Error) => toast(error.message))}
            >
              {emoji} {figure(count)}
            </button>
          </li>
        )
      })}
    </ul>
  )
}
