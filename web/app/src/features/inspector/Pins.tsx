import type { SpaceState } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { t } from '../../language/words.ts'
import { messagePath } from '../../router.ts'
import { IconButton } from '../../ui/Button.tsx'
import { Close } from '../../ui/icons.tsx'
import { Link } from '../../ui/Link.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { toast } from '../../ui/toast.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { plainText } from '../markdown/plainText.ts'
import { useMayWrite } from '../spaces/useMayWrite.ts'

/** The pinned messages of a space, newest pin first. */
export function Pins({ space }: { space: SpaceState }) {
  const { client } = useStore()
  const mayWrite = useMayWrite(space.facts.id)
  const { data, problem } = useQuery(space.facts.id, () => client.spaces.pins(space.facts.id), String(space.eventSeq))
  if (!data || problem) return <QueryStatus problem={problem} />
  if (data.pins.length === 0) return <p className="text-small text-ink-soft">{t('No pinned messages. Pin one from its menu.')}</p>
  const unpin = (id: string) => void client.messages.unpin(id).catch((error: Error) => toast(error.message))
  return (
    <ul aria-label={t('Pinned messages')} className="space-y-2 text-small">
      {data.pins.map((pin) => (
        <li key={pin.id} className="flex items-start gap-1">
          <Link href={messagePath(pin.spaceId, pin.id)} className="-mx-2 min-w-0 flex-1 rounded-md px-2 py-1.5 hover:bg-hover">
            <bdi className="font-semibold">{pin.sender.name}</bdi>
            <span className="block break-words text-ink-soft">{plainText(pin.text).slice(0, 240) || t('Files')}</span>
          </Link>
          {mayWrite && <IconButton label={t('Unpin')} className="size-8" onClick={() => unpin(pin.id)}><Close className="size-4" /></IconButton>}
        </li>
      ))}
    </ul>
  )
}
