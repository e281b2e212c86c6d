from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("search", "0002_storage")]

    operations = [
        migrations.RemoveIndex(model_name="embedding", name="search_embedding_place"),
        migrations.RemoveIndex(model_name="embedding", name="search_embedding_record"),
        migrations.AddIndex(
            model_name="embedding",
            index=models.Index(
                fields=["collection", "space", "record_id"], name="search_vector_place"
            ),
        ),
    ]
