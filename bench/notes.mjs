/** What a figure that misses its goal is made of. Shown on the page while it does. */
export const notes = {};
