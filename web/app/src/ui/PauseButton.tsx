import { useState } from 'react'

import { Button } from './Button.tsx'
import { toast } from './toast.tsx'

interface Props {
  paused: boolean
  /** For example "Pause Ada". */
  label: string
  resumeLabel: string
  onPause: () => Promise<{ paused: boolean }>
  onResume: () => Promise<{ paused: boolean }>
}

/** Pauses agents, or lets them go on. Messages that arrive meanwhile wait for them. */
export function PauseButton({ paused: given, label, resumeLabel, onPause, onResume }: Props) {
  const [paused, setPaused] = useState(given)
  const [busy, setBusy] = useState(false)
  const change = async () => {
    setBusy(true)
    try {
      setPaused((await (paused ? onResume() : onPause())).paused)
    } catch (error) {
      toast((error as Error).message)
    }
    setBusy(false)
  }
  return <Button disabled={busy} look={paused ? 'primary' : 'plain'} onClick={() => void change()}>{paused ? resumeLabel : label}</Button>
}
