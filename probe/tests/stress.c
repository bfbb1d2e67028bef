/* Probe one set of tables with a small cache by many threads. Each result must be that of a single thread.
 * For the sanitizers:
 *
 *     cc -g -O1 -fsanitize=thread probe/tests/stress.c probe/shashki_probe.c -lzstd -lpthread -o stress
 *     ./stress DIR [threads] [probes per thread] [cache bytes] [pieces]
 */
#define _POSIX_C_SOURCE 200809L
#include "../shashki_probe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POSITIONS = 4096, ALL = SHASHKI_DTC | SHASHKI_DTW | SHASHKI_DTB, MAX_THREADS = 64 };

static shashki_tables *tables;
static shashki_position positions[POSITIONS];
static shashki_value expected[POSITIONS];
static char best[POSITIONS][SHASHKI_NOTATION_SIZE];
static long probes = 20000;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Place 2 to `pieces` pieces on random squares; a man on the row where it promotes becomes a king. */
static shashki_position random_position(uint64_t *state, unsigned pieces)
{
    uint32_t sets[4] = {0, 0, 0, 0}, taken = 0;
    unsigned count = 2 + next_random(state) % (pieces - 1);
    for (unsigned i = 0; i < count; i++) {
        uint32_t square = 1u << next_random(state) % 32, kind = i < 2 ? 2 * i : 2 * (next_random(state) % 2);
        if (taken & square)
            continue;
        taken |= square;
        if (next_random(state) % 2 || (square & (kind ? 0x0000000Fu : 0xF0000000u)))
            kind++;
        sets[kind] |= square;
    }
    shashki_position position = {sets[0], sets[1], sets[2], sets[3], next_random(state) % 2};
    return position;
}

struct job {
    pthread_t thread;
    uint64_t seed;
    long wrong, cached;
};

static void *work(void *argument)
{
    struct job *job = argument;
    for (long i = 0; i < probes; i++) {
        uint32_t which = next_random(&job->seed) % POSITIONS;
        shashki_value value;
        int number = 0;
        enum shashki_error error;
        switch (next_random(&job->seed) % 8) {
        case 0:
            error = shashki_probe(tables, &positions[which], ALL, SHASHKI_READ, &value);
            job->wrong += error || memcmp(&value, &expected[which], sizeof value) != 0;
            break;
        case 1:
            error = shashki_probe_dtw(tables, &positions[which], &number);
            job->wrong += error || number != expected[which].dtw;
            break;
        case 2: {
            shashki_move first;
            size_t count;
            if (i % 16) /* listing moves probes many positions */
                break;
            error = shashki_probe_moves(tables, &positions[which], &first, 1, &count);
            job->wrong += error || strcmp(count ? first.notation : "", best[which]) != 0;
            break;
        }
        case 3:
        case 4:
            error = shashki_probe_wdl_cached(tables, &positions[which], &number);
            job->cached += !error;
            job->wrong += error ? error != SHASHKI_E_NOT_CACHED : number != expected[which].wdl;
            break;
        default:
            error = shashki_probe_wdl(tables, &positions[which], &number);
            job->wrong += error || number != expected[which].wdl;
        }
    }
    return NULL;
}

static int report(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, shashki_last_error());
    return 2;
}

int main(int count, char **arguments)
{
    static struct job jobs[MAX_THREADS];
    if (count < 2) {
        fprintf(stderr, "usage: %s DIR [threads] [probes per thread] [cache bytes] [pieces]\n", arguments[0]);
        return 2;
    }
    int threads = count > 2 ? atoi(arguments[2]) : 8;
    probes = count > 3 ? atol(arguments[3]) : probes;
    size_t bytes = count > 4 ? (size_t)atol(arguments[4]) : 200000;
    unsigned pieces = count > 5 ? (unsigned)atoi(arguments[5]) : 0;
    if (threads < 1 || threads > MAX_THREADS)
        threads = MAX_THREADS;
    if (shashki_open(arguments[1], 64 << 20, &tables))
        return report(arguments[1]);
    if (!pieces)
        pieces = (unsigned)shashki_pieces(tables);
    if (pieces < 2)
        return fprintf(stderr, "%s has no tables\n", arguments[1]), 2;
    uint64_t seed = 1;
    for (int i = 0; i < POSITIONS; i++) {
        shashki_move first;
        size_t moves;
        positions[i] = random_position(&seed, pieces);
        if (shashki_probe(tables, &positions[i], ALL, SHASHKI_READ, &expected[i]) ||
            shashki_probe_moves(tables, &positions[i], &first, 1, &moves))
            return report("a single thread");
        strcpy(best[i], moves ? first.notation : "");
    }
    shashki_close(tables);

    /* Open the set again, so that the threads also compete to open each table. */
    if (shashki_open(arguments[1], bytes, &tables))
        return report(arguments[1]);
    long wrong = 0, cached = 0;
    for (int i = 0; i < threads; i++) {
        jobs[i].seed = (uint64_t)i + 100;
        if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i]))
            return fprintf(stderr, "no thread\n"), 2;
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(jobs[i].thread, NULL);
        wrong += jobs[i].wrong;
        cached += jobs[i].cached;
    }
    shashki_stats stats;
    shashki_get_stats(tables, &stats);
    shashki_close(tables);
    printf("%d threads, %ld probes each, %zu bytes of cache: %ld wrong; %ld from memory alone; %llu frames "
           "read\n",
           threads, probes, bytes, wrong, cached, (unsigned long long)stats.frames_read);
    return wrong != 0;
}
