import type { Message } from '@majlis/client'
import { Popover } from 'radix-ui'
import { lazy, useState } from 'react'

import { inspect, messagePath } from '../../router.ts'
import { useMayWrite } from '../spaces/useMayWrite.ts'
import { IconButton } from '../../ui/Button.tsx'
import { copyText } from '../../ui/copy.ts'
import { Eye, LinkIcon, Receipt, Reply } from '../../ui/icons.tsx'
import { LazyPart } from '../../ui/LazyPart.tsx'

const Deliveries = lazy(() => import('../inspector/Deliveries.tsx'))

/** Visible while the message has the pointer or the focus. */
export function MessageActions({ message, onReply }: { message: Message; onReply: (message: Message) => void }) {
  const [open, setOpen] = useState(false)
  const { runId } = message
  const mayWrite = useMayWrite(message.spaceId)
  return (
    <div
      className={`absolute -top-3 right-1 z-10 flex rounded-md border border-line bg-paper-high shadow-low ${open ? '' : 'opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:pointer-events-none pointer-coarse:group-focus-within:pointer-events-auto'}`}
    >
      {mayWrite && <IconButton label="Reply" className="size-8" onClick={() => onReply(message)}><Reply className="size-4" /></IconButton>}
      <Popover.Root open={open} onOpenChange={setOpen}>
        <Popover.Trigger asChild>
          <IconButton label="Read by" className="size-8"><Receipt className="size-4" /></IconButton>
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Content align="end" sideOffset={6} collisionPadding={12} aria-label="Read by" className="z-30 w-72 animate-rise rounded-lg border border-line bg-paper-high p-3 text-small shadow-high">
            <LazyPart><Deliveries messageId={message.id} mayWrite={mayWrite} /></LazyPart>
          </Popover.Content>
        </Popover.Portal>
      </Popover.Root>
      {runId && <IconButton label="View run" className="size-8" onClick={() => inspect({ kind: 'run', id: runId })}><Eye className="size-4" /></IconButton>}
      <IconButton label="Copy link" className="size-8" onClick={() => void copyText(location.origin + messagePath(message.spaceId, message.id))}>
        <LinkIcon className="size-4" />
      </IconButton>
    </div>
  )
}
