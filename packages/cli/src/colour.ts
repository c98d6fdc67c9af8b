import pc from 'picocolors';

const { FORCE_COLOR, NO_COLOR, TERM } = process.env;

/**
 * Colours, for a terminal only. Picocolors itself also colours what goes into a pipe where `CI` is set, and a pipe may
 * end in a file or a program.
 */
export const colour: ReturnType<typeof pc.createColors> = pc.createColors(
  !NO_COLOR && (FORCE_COLOR ? FORCE_COLOR !== '0' : Boolean(process.stdout.isTTY) && TERM !== 'dumb'),
);
